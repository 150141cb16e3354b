// The words that are shipped. They say no more than is known: somebody may read them for hours.
#include "store/gate_settings.h"

namespace tend {

GateLanguages shipped_gate_texts() {
  return {
      {"en", {"Something is wrong here; it is being repaired.", "All is well again."}},
      {"zh", {"系统异常，正在尝试恢复", "系统已恢复正常"}},
  };
}

GateTexts gate_texts(const GateSettings& settings, std::string_view language) {
  const std::string_view kind = language.substr(0, language.find_first_of("-_"));
  for (const std::string_view each : {language, kind, std::string_view(settings.language)}) {
    if (const auto found = settings.texts.find(each); found != settings.texts.end()) {
      return found->second;
    }
  }
  return shipped_gate_texts()["en"];
}

}  // namespace tend
