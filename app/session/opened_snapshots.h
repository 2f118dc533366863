#pragma once
// The memory snapshot that is open, and what it held at the moment that the window asks for. On the UI thread; what takes
// time is done by others.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/jobs/latest_job.h"
#include "app/session/free_later.h"
#include "core/snapshot/opened_snapshot.h"
#include "ui/snapshot/snapshot_page.h"

namespace gapscope {

class OpenedSnapshots {
 public:
  OpenedSnapshots(const std::function<void()>& wake, FreeLater& free_later)
      : free_later_(free_later),
        job_(
            "work out what was held", [](const Question& q) { return moment_of(*q.opened, q.what.device, q.what.event); },
            wake) {}

  const std::shared_ptr<const OpenedSnapshot>& opened() const { return opened_; }
  const SnapshotMoment* moment() const { return moment_.get(); }
  bool is_at_work() const { return opened_ && job_.is_at_work(); }
  void request_stop() { job_.request_stop(); }

  void show(std::shared_ptr<const OpenedSnapshot> opened) {
    close();
    opened_ = std::move(opened);
  }
  void close() {
    moment_of_.reset();
    free_later_.add(std::exchange(moment_, nullptr));
    free_later_.add(std::exchange(opened_, nullptr));
  }
  void ask(const AskMoment& what) {
    if (opened_ && what.device < opened_->devices.size()) job_.ask({opened_, what});
    moment_of_ = opened_;
  }
  // Takes in what was worked out; why nothing was, else empty.
  std::string poll() {
    // An answer about one that was closed since then is of no use.
    if (auto answer = job_.take(); answer && opened_ && moment_of_.lock() == opened_)
      free_later_.add(std::exchange(moment_, std::move(*answer)));
    const std::optional<Error> trouble = job_.take_trouble();
    return trouble ? trouble->message : std::string();
  }
  // The files, as they were opened: of two snapshots the first one is what the other is compared with.
  std::vector<std::string> paths() const {
    if (!opened_) return {};
    if (opened_->program) return {opened_->path, opened_->program->path};
    if (!opened_->comparison) return {opened_->path};
    return {opened_->comparison->path, opened_->path};
  }

 private:
  struct Question {
    std::shared_ptr<const OpenedSnapshot> opened;
    AskMoment what;
  };
  FreeLater& free_later_;
  std::shared_ptr<const OpenedSnapshot> opened_;
  std::shared_ptr<const SnapshotMoment> moment_;
  std::weak_ptr<const OpenedSnapshot> moment_of_;  // what was asked about
  LatestJob<Question, std::shared_ptr<const SnapshotMoment>> job_;
};

}  // namespace gapscope
