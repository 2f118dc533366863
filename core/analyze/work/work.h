#pragma once
// What one call of an operator computes and moves, from its recorded shapes alone: a table of models, each a function of the
// call. A multiplication and an addition count as two. Bytes are what must cross the memory once: inputs read, outputs written.
//
// Formulas: PyTorch's torch/utils/flop_counter.py for products, convolutions and attention; TraceLens (AMD), where it has a
// model, for norms, reductions and elementwise work, except where it is wrong (WORK.md alongside this file says where).
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/analyze/work/work_call.h"

namespace gapscope {

struct Work {
  std::optional<double> flops, bytes;  // both or none
  std::string_view why;                // where there are none: a sentence; empty for an operator without a model
};

// What a model asks for beyond dims and types.
enum WorkNeeds : std::uint8_t {
  kNeedsValues = 1,      // Concrete Inputs
  kNeedsKernel = 2,      // the name of its kernel: PyTorch writes no types of lists
  kNeedsAnnotation = 4,  // what a serving engine wrote around it
  kNeedsMade = 8,        // the tensors that it makes on the way
};

struct WorkModel {
  std::string_view operators;  // names, separated by spaces; "triton_*" represents all that begin so
  Work (*work)(const WorkCall&);
  std::uint8_t needs = 0;      // WorkNeeds
  bool is_product = false;     // runs on the matrix units
  bool is_whole = false;       // owns all kernels launched inside it, those of other operators too
  bool crosses_links = false;  // a collective: its bytes go between GPUs
};

// The model of an operator, or null.
const WorkModel* work_model(std::string_view op);

Work work_of(const WorkCall& call);

}  // namespace gapscope
