#pragma once
// A replay that can pause: alone it plays to its end; of several recordings each pauses where it needs to know when a
// collective ended that the others have not come to yet (core/ranks/run_replay.h).
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/replay/host_clock.h"
#include "core/replay/replay.h"

namespace gapscope {

// What else operations wait for, by position in ReplayModel::ops(); both may be empty: for nothing.
struct StreamJoins {
  std::span<const std::uint32_t> after;  // the operation of another queue whose end comes before; or ReplayModel::kNone
  std::span<const std::uint8_t> held;    // not 0: its end comes from Player::end()
};

// Refers to what it is made of.
class Player {
 public:
  enum class Stands : std::uint8_t {
    begun,    // the held operation at() has begun: it continues meanwhile
    blocked,  // the end of at() is needed
    done,     // everything has been played
    cancelled
  };
  Player(const ReplayModel& model, const Change& change, StreamJoins joins = {});

  Stands play(const std::atomic<bool>* cancel = nullptr);
  std::uint32_t at() const { return at_; }
  Span times(std::uint32_t op) const { return out_.ops[op]; }
  Ns length(std::uint32_t op) const {
    if (is_left_over(model_.ops()[op])) return 0;
    return change_.lasts.empty() ? model_.ops()[op].span.length() : change_.lasts[op];
  }
  // How much later than it was the host comes to this recorded time, by the waits so far.
  Ns host_delay(Ns t) const;
  // A held operation that has begun ends at `t`.
  void end(std::uint32_t op, Ns t);
  // The held operation that has begun just now begins so much sooner, and with it what the host and the queues do from there
  // on, as far as it was they that came late.
  void come_sooner(std::uint32_t op, Ns by);

  // By queue, how much later than the host its work of the last step ends; once all is played.
  std::vector<Ns> behind() const;
  // The steps follow others, whose work ends so long after the first of these begins; before anything is played. The run
  // then begins where all of that has ended.
  void start_behind(const std::vector<Ns>& behind);

  // Once all is played.
  ReplayResult result();

 private:
  struct Queue {
    Ns begin = 0;                                // of the operation before
    Ns free = 0;                                 // where all operations have ended
    Ns copies_free = 0;                          // where copies that hold up nothing else have
    std::uint32_t pending = ReplayModel::kNone;  // held, and not known to have ended
  };

  // The plain program is its steps alone: what no call of theirs launched a host ahead of its GPU had left for it to do.
  bool is_left_over(const ReplayModel::Operation& op) const { return change_.pace != nullptr && op.call == ReplayModel::kNone; }
  bool known(std::uint32_t op) const { return joins_.held.empty() || joins_.held[op] == 0 || ended_[op]; }
  bool play_op(std::uint32_t op);
  bool end_call();
  void join();
  void free_memory();
  Stands stand(Stands how, std::uint32_t op) { return at_ = op, how; }

  const ReplayModel& model_;
  const Change& change_;
  const StreamJoins joins_;
  HostClock clock_;
  std::vector<Queue> queues_;
  std::vector<bool> freed_, ended_;
  std::optional<Ns> behind_;           // the longest of start_behind()
  std::uint32_t call_ = 0, next_ = 0;  // being played: of ReplayModel::calls(), of order()
  std::size_t join_ = 0, free_ = 0;    // of joins(), of frees()
  std::uint32_t at_ = ReplayModel::kNone;
  ReplayResult out_;
};

}  // namespace gapscope
