#pragma once
// Whether two recordings are of the same problem: shapes, data types, device, ranks. "Slower" may be said of equal work only;
// of other work what can be said is per operation, per element, per row.
//
// Operations of a step are those of products, convolutions and attention with recorded shapes (flops.h), known where they own
// nearly all kernels of that sort. Elements are those of the largest input of an operator with GPU work. Work is equal
// where the operations are (within kSameAmount), where none are known the elements; where neither is known but kernels of one
// name run with other grids, it counts as other work.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

struct SideData;

constexpr double kSameAmount = 1.02;

// What one side's step works on, on average over the steps that are shown.
struct Problem {
  std::optional<double> operations;  // of a step
  std::optional<double> elements;    // of the largest input
  std::optional<double> rows;        // of the left operand of the largest product: batch times sequence of a linear layer
  std::optional<double> tokens;      // indices that the largest embedding looks up
  std::vector<std::string> types;    // that products are computed in, most time first: "tf32", "bf16"
  std::vector<std::string> devices;  // names of the GPUs that did work, each once; "" where the file does not say
  std::size_t device_count = 0;
  std::int64_t world_size = -1;  // -1 where the file does not say
};
Problem problem_of(const SideData& side);

enum class SameWork : std::uint8_t { equal, other, unknown };
std::string_view work_key(SameWork work);  // "equal", "other", "unknown"

// How one amount of work went from a to b, and what a unit of it takes.
struct PerUnit {
  std::string_view unit;      // "operation", "token", "row", "element"
  double a = 0, b = 0;        // amounts of a step
  double ns_a = 0, ns_b = 0;  // GPU busy time of a step per unit, in ns
};

struct Likeness {
  SameWork work = SameWork::unknown;
  Problem a, b;
  std::vector<std::string> differences;  // sentences; empty: nothing that both recordings state is different
  std::vector<PerUnit> per_unit;         // where both are known and amounts differ, the most telling first
};
// `other_grids`: kernels of one name run with other grids. Busy times in ns of a step.
Likeness likeness_of(Problem a, Problem b, bool other_grids, Ns busy_a, Ns busy_b, std::string_view of_b);

// "1.16 TFLOP", "4,096 tokens".
std::string amount_text(std::string_view unit, double amount);
// Time of one unit, of operations of 10^12: "7.05 ms/TFLOP", "1.21 µs/token", "0.0127 ns/element".
std::string per_unit_text(std::string_view unit, double ns);

}  // namespace gapscope
