#pragma once
// The work of calls as their recording shows it: what a model needs beyond a call's own dims and types is found here. Calls
// that are alike are worked out once.
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/analyze/work/owned_calls.h"
#include "core/base/tuple_hash.h"
#include "core/trace/arg_texts.h"

namespace gapscope {

struct CountedCall {
  const OpRow* row = nullptr;  // null where the file has none
  const WorkModel* model = nullptr;
  Work work;
  const WorkCall* call = nullptr;  // null where no dims are recorded
};

class CallContext {
 public:
  // Of the calls of one recording. `gpu` has the work, `values` the Concrete Inputs of values_of_calls().
  CallContext(const OperatorRecording& gpu, const OperatorRecording& of, const ArgTexts& values);

  // `work`: that of one call; `longest`: the longest of it.
  CountedCall count(std::span<const OwnedWork> work, const GpuRow& longest);

 private:
  struct Known {
    Work work;
    std::optional<WorkCall> call;
  };
  using Key = std::tuple<StringId, StringId, StringId, std::uint32_t, StringId, std::uint32_t, std::uint32_t, std::int32_t>;

  void learn_results();
  void learn_parameters();
  SliceId annotation_of(const OwnedWork& work) const;
  double long_list(std::span<const OwnedWork> work) const;
  void fill(WorkCall& call, const WorkModel& model, std::span<const OwnedWork> work, const GpuRow& longest) const;

  const Trace& gpu_;  // whose work it is, with what a serving engine wrote around its launch
  const LaneIndex& gpu_lanes_;
  const Trace& trace_;  // whose operators they are
  const LaneIndex& lanes_;
  const ArgTexts& values_;
  std::unordered_map<Key, Known, TupleHash> known_;
  std::map<std::pair<std::string, std::string>, Sizes> results_;  // of a convolution by its input and weight
  std::vector<std::pair<double, double>> parameters_;             // elements, and how many tensors have so many
};

}  // namespace gapscope
