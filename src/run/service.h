// The beater: a process of its own that outlives the session which started it, and not its subject.
// Each beat proves first that the subject is alive and works, and writes then: the subject's own
// entry and lease, and no other. What could not be written is a failure, is counted as one, and is
// shown once and then more and more rarely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/machine.h"
#include "run/hire.h"
#include "run/lease_desk.h"
#include "run/service_beat.h"
#include "run/service_leases.h"
#include "run/service_subject.h"
#include "run/service_voice.h"
#include "store/service_file.h"

namespace tend {

struct ServiceSettings {
  std::string pidfile;  // absolute
  std::string start;    // which start this is; "": nobody waits for it
  Duration interval = std::chrono::seconds{60};
  SubjectSettings subject;
  std::vector<AgentStore> sinks;
  std::string log;         // "": in its folder of the home
  std::string shared_log;  // "": none
  ServiceManager manager;
};

/// The folder of the service of a pid file; made if it is missing.
Result<std::unique_ptr<Folder>> service_folder(Folder& home, const std::string& pidfile);

class Service {
 public:
  enum class Began : std::uint8_t { at_work, held_by_another };

  /// `folder` is its service_folder().
  Service(LeaseDesk& desk, std::unique_ptr<Folder> folder, ServiceSettings settings);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Takes the lock and tells its number. From then on everything happens in the machine's loop,
  /// the first beat at once; it is stopped when it is over.
  Result<Began> begin();
  [[nodiscard]] const ServiceStatus& status() const { return status_; }

 private:
  using Level = ServiceLog::Level;
  using For = ServiceLog::For;

  void beat();
  void hold(const ServiceSubject::Look& look);
  void skip(const std::string& words, Duration longest);
  void write(const BeatFor& whom);
  void try_stores();
  void note(const PartDone& done);
  void finish();
  void succeed();
  void fail_with(const std::string& error, Duration pause);
  void wait(Duration pause);
  void publish();
  void leave(const std::string& because);
  Result<void> write_pidfile();
  void mend_pidfile();
  [[nodiscard]] std::string in_words() const;

  Machine& machine_;
  std::unique_ptr<Folder> folder_;
  ServiceSettings settings_;
  ServiceSubject subject_;
  ServiceLeases leases_;
  ServiceLog log_;
  ServiceNotify notify_;
  std::unique_ptr<ServiceLock> lock_;
  ServiceStatus status_;

  std::unique_ptr<Process> held_;
  Subscribed end_of_held_;

  // Of the beat that is under way.
  BeatFor whom_;
  std::vector<std::size_t> to_write_;  // of the sinks
  int tries_ = 0;
  std::string errors_;
  std::string written_;
  Duration again_in_{};

  std::uint32_t skipped_in_row_ = 0;
  Subscribed timer_;
  std::vector<Subscribed> orders_;
};

}  // namespace tend
