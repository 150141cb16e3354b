// Copies the files of a work tree that changed, where nothing else can save them.
#pragma once

#include "os/version_control.h"

namespace tend {

/// Follows no link: a link is copied as a link. Sockets, fifos, devices and what cannot be read are
/// left out and counted; so is what does not fit the bounds, the smaller files after it still
/// being copied. Folders named ".git" are passed over. What was copied survives a power cut.
class LinuxSalvager final : public Salvager {
 public:
  Result<Salvage> salvage(const SalvageOrder& order) override;
};

}  // namespace tend
