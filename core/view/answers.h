#pragma once
// What is asked about a document that takes longer than a frame, and what came of it: it lies next to the document for as long
// as that is open. Read and written on the UI thread. A kind of question is a type Q with
//   using Answer = ...;                     what a panel shows
//   static constexpr const char* kToDo;     what working it out does, as it follows "Not enough memory to ..."
// an operator==, and in namespace gapscope, next to it, what a thread of its own calls; null when cancelled:
//   std::shared_ptr<const Q::Answer> answer(const Document&, const Q&, const std::atomic<bool>* cancel);
// Listed in Question, it is carried by the request Ask (ui/requests.h) and worked out by a DocumentJob (app/jobs).
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "core/view/compile/compile_state.h"
#include "core/view/details/details_model.h"
#include "core/view/details/kernel_command.h"
#include "core/view/details/source_lines.h"
#include "core/view/document.h"
#include "core/view/gpu/gaps_model.h"
#include "core/view/kernels/kernels_model.h"
#include "core/view/memory/allocation_stack.h"
#include "core/view/memory/held_memory.h"
#include "core/view/memory/memory_state.h"
#include "core/view/modules/modules_model.h"
#include "core/view/overview/overview_model.h"
#include "core/view/ranks/ranks_state.h"
#include "core/view/roofline/roofline_state.h"
#include "core/view/search/search_model.h"
#include "core/view/selection/area_state.h"
#include "core/view/sql/sql_model.h"
#include "core/view/steps/steps_model.h"
#include "core/view/table/table_model.h"
#include "core/view/whatif/run_what_if_state.h"
#include "core/view/whatif/whatif_state.h"

namespace gapscope {

// The facts and what the rules find: the document itself holds both, once they are there.
struct AnalysisQuestion {
  struct Answer {};
  static constexpr const char* kToDo = "analyse the trace";
  friend bool operator==(const AnalysisQuestion&, const AnalysisQuestion&) = default;
};
std::shared_ptr<const AnalysisQuestion::Answer> answer(const Document& document, const AnalysisQuestion& question,
                                                       const std::atomic<bool>* cancel);

using Question =
    std::variant<AnalysisQuestion, TableQuestion, KernelsQuestion, StepsQuestion, AreaQuestion, FlameQuestion, SearchQuestion,
                 StepDifferenceQuestion, SqlQuestion, RanksQuestion, OverviewQuestion, ModulesQuestion, CompileQuestion,
                 KernelCommandQuestion, MemoryQuestion, GapsQuestion, RooflineQuestion, ReplayBaseQuestion, WhatIfQuestion,
                 RunWhatIfQuestion, SourceLinesQuestion, AllocationsQuestion, HeldQuestion, ArgsQuestion>;

template <class Q>
struct Asked {
  std::optional<Q> question;                         // the last
  std::shared_ptr<const typename Q::Answer> answer;  // to it or, until that is there, to one before
  std::string trouble;                               // why there will be none: a sentence; empty: nothing went wrong

  // It came to no answer; it may be asked again.
  void forget() {
    question.reset();
    trouble.clear();
  }
};

template <class>
class AnswersTo;
template <class... Qs>
class AnswersTo<std::variant<Qs...>> {
 public:
  template <class Q>
  Asked<Q>& to() {
    return std::get<Asked<Q>>(asked_);
  }

 private:
  std::tuple<Asked<Qs>...> asked_;
};
class Answers : public AnswersTo<Question> {};

template <class Q>
Asked<Q>& asked(const Document& document) {
  return document.answers->template to<Q>();
}
// The newest answer that is there; null before the first.
template <class Q>
const std::shared_ptr<const typename Q::Answer>& answer_to(const Document& document) {
  return asked<Q>(document).answer;
}

// Works it out at once, for whoever may wait.
void answer_now(const Document& document, const Question& question);

}  // namespace gapscope
