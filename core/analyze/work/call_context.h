#pragma once
// The work of calls as their recording tells it: what a model needs beyond a call's own dims and types is found here. Calls
// that are alike are worked out once.
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "core/analyze/work/owned_calls.h"
#include "core/trace/arg_texts.h"

namespace gapscope {

struct CountedCall {
  Work work;
  const WorkCall* call = nullptr;  // null where no dims are recorded
};

class CallContext {
 public:
  CallContext(const Trace& trace, const LaneIndex& lanes, const std::vector<OwnedWork>& work, const ArgTexts& values);

  // `work`: that of the call; `longest`: the longest of it.
  CountedCall count(SliceId op, std::span<const OwnedWork> work, const GpuRow& longest);

 private:
  struct Known {
    Work work;
    std::optional<WorkCall> call;
  };
  using Key = std::tuple<StringId, StringId, StringId, std::uint32_t, StringId, std::uint32_t, std::uint32_t, double>;

  void learn_results();
  void learn_parameters();
  SliceId annotation_of(SliceId op) const;
  double long_list(std::span<const OwnedWork> work) const;
  void fill(WorkCall& call, const WorkModel& model, SliceId op, std::span<const OwnedWork> work, const GpuRow& longest) const;

  const Trace& trace_;
  const LaneIndex& lanes_;
  const ArgTexts& values_;
  std::map<Key, Known> known_;
  std::map<std::pair<std::string, std::string>, Sizes> results_;  // of a convolution by its input and weight
  std::vector<std::pair<double, double>> parameters_;             // elements, and how many tensors have so many
};

}  // namespace gapscope
