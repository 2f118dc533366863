#pragma once
// The state of the tab "Roofline", owned by TraceView, and what it asks.
#include <atomic>
#include <memory>
#include <string>

#include "core/view/table/table_look.h"

namespace gapscope {

struct Document;
struct RooflineAnswer;
struct RooflineQuestion {
  using Answer = RooflineAnswer;
  static constexpr const char* kToDo = "work out the roofline";
  std::string module;  // calls in which this instance is the innermost; empty: all
  friend bool operator==(const RooflineQuestion&, const RooflineQuestion&) = default;
};
std::shared_ptr<const RooflineAnswer> answer(const Document& document, const RooflineQuestion& question,
                                             const std::atomic<bool>* cancel);

struct RooflineState {
  TableLook look;
  std::string module;
};

}  // namespace gapscope
