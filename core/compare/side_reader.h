#pragma once
// One trace as comparing sees it: its steps, the GPU work of each, the figures of each, and which steps are shown.
#include <memory>
#include <string>
#include <vector>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/compare/comparison.h"

namespace gapscope {

struct ComparedStep {
  SliceId slice;  // none: the whole trace
  std::string name;
  Span cpu;
  std::vector<std::uint32_t> ops;  // positions in SideData::ops: launched in it, in time order
  StepValues values{};
};

struct SideData {
  const ComparedTrace* input = nullptr;
  const std::vector<GpuOp>& ops() const { return input->session.ops(); }  // all of the trace, in time order
  const WorkTable& work() const { return input->session.work(); }
  bool any_linked = false;
  std::vector<ComparedStep> steps;  // in time order, disjoint
  std::vector<std::size_t> picked;  // of `steps`
  bool by_optimizer = false;        // no step is marked: iterations() represent steps
  bool by_regularity = false;       // nor is it called as PyTorch's: regular_steps()
  bool by_common_marks = false;     // nor is there such: an annotation that both sides have represents steps
  Side side;
};

// An error when the step or the annotation that the options ask for is not there.
Result<SideData> read_side(const ComparedTrace& input, const CompareOptions& options);

// Exposed for tests: median and quartiles by the ranks that comparison.h names.
StepSpread spread_of(std::vector<std::int64_t> values);

}  // namespace gapscope
