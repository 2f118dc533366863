#pragma once
// Operators that follow each other again and again: loops of the program, layers of a model.
#include <cstddef>
#include <vector>

#include "core/base/time.h"
#include "core/diagnose/facts.h"

namespace gapscope {

constexpr std::size_t kLeastRounds = 8;
constexpr std::size_t kLeastLaunching = 3;  // operators of a round; fewer are an update of each parameter

// An operator's own path through PyTorch takes tens of microseconds, so what takes longer and calls nothing of CUDA computes on
// the CPU.
constexpr Ns kLeastComputing = 200 * kNsPerUs;

// The outermost operators of one thread in one step, in time order. Those of compiling, of data loaders and of optimizers are
// left out.
using Operators = std::vector<SliceId>;
std::vector<Operators> operators_by_thread_and_step(const Facts& facts);

// A stretch of operators that is the same ones over and over: where each round begins, of kLeastRounds and more.
struct Loop {
  std::vector<std::size_t> begins;
  std::size_t end = 0;
  std::size_t rounds() const { return begins.size(); }
  std::size_t length() const { return end - begins.front(); }
};

// All loops of the operators: where rounds are equal those of the period that explains most operators, of nearly equal ones the
// shortest; also those whose rounds are nearly alike (an `if` in them), where they explain more than twice as much.
struct Loops {
  std::vector<Loop> even, uneven;
};
Loops loops_of(const Facts& facts, const Operators& ops);

}  // namespace gapscope
