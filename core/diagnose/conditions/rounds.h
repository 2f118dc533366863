#pragma once
// What a round of a loop is, where its operators show it: something better is to be done about it than about any loop.
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/diagnose/conditions/loops.h"

namespace gapscope {

// GPU work by when it was launched; sorted by the first who asks.
class Launched {
 public:
  explicit Launched(const Facts& facts) : facts_(facts) {}
  // What a loop launched, in that order.
  std::vector<const GpuOp*> by(const Operators& ops, const Loop& loop);

 private:
  const Facts& facts_;
  std::vector<const GpuOp*> ordered_;
};

enum class Round : std::uint8_t { any, expert, mask, cell, update, read, model, step, sample, greedy, value, count };
Round round_of(const Facts& facts, const Operators& ops, const Loop& loop, Launched& launched);

// What to do instead, and the line that it makes of the loop; empty where that is what is to be done about any loop.
struct RoundKind {
  std::string_view remedy = {}, code = {};
  bool is_independent = false;           // no round needs the one before it, whatever modules and waits say
  bool is_no_layer = false;              // its operators show that it is no layer of a model
  std::size_t least_without_frames = 0;  // rounds: layers of a model are fewer
  bool may_need_previous = false;        // no record says whether a round needs the one before it: its gain is a bound
};
const RoundKind& kind_of(Round round);

// Whether the rounds could be one: they are no layers of a model, and none needs the round before it.
bool are_rounds(const Facts& facts, const Operators& ops, const Loop& loop, Round round);

std::size_t launching_of_round(const Facts& facts, const Operators& ops, const Loop& loop);

}  // namespace gapscope
