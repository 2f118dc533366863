#include "core/compare/likeness.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "core/analyze/gpu/devices.h"
#include "core/analyze/kernel_name/kernel_name.h"
#include "core/analyze/operators/flops.h"
#include "core/analyze/work/work_table.h"
#include "core/base/text.h"
#include "core/compare/side_reader.h"
#include "core/session/recording.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

constexpr double kNearlyAll = 0.9;         // of the time of products: then the operations of a step are known
constexpr double kTypeWorthTelling = 0.1;  // of the time of products
using Shapes = std::vector<std::vector<double>>;

// "[[2, 3], [], [4]]" as numbers; lists of lists inside are left out.
Shapes shapes_of(std::string_view json) {
  Shapes out;
  int depth = 0;
  for (std::size_t i = 0; i < json.size();) {
    const char c = json[i];
    if (c == '[' && ++depth == 2) out.emplace_back();
    if (c == ']') --depth;
    if (depth != 2 || !is_digit(c)) {
      ++i;
      continue;
    }
    double value = 0;
    const auto [end, trouble] = std::from_chars(json.data() + i, json.data() + json.size(), value);
    if (trouble == std::errc()) out.back().push_back(value);
    i = std::max(i + 1, static_cast<std::size_t>(end - json.data()));
  }
  return out;
}

double product(const std::vector<double>& dims, std::size_t without_last = 0) {
  if (dims.size() <= without_last) return 0;
  double out = 1;
  for (std::size_t i = 0; i + without_last < dims.size(); ++i) out *= dims[i];
  return out;
}

// Position of the left matrix among the inputs, of operators that a linear layer becomes.
std::optional<std::size_t> left_operand(std::string_view op) {
  if (op == "aten::addmm") return 1;
  if (op == "aten::mm" || op == "aten::linear" || op == "aten::matmul") return 0;
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(const SideData& side) : side_(side), trace_(side.input->session.trace()) {}

  Problem read() {
    for (const std::size_t s : side_.picked)
      for (const std::uint32_t i : side_.steps[s].ops) add(side_.ops()[i]);
    const auto steps = static_cast<double>(std::max<std::size_t>(1, side_.picked.size()));
    if (operations_ > 0 && counted_time_ >= kNearlyAll * product_time_) out_.operations = operations_ / steps;
    add_devices();
    add_types();
    out_.world_size = rank_of(trace_.header).world_size;
    return std::move(out_);
  }

 private:
  void add(const GpuOp& op) {
    const CallWork* call = side_.work().call_of_kernel(op.slice);
    const WorkRow* row = call != nullptr ? &side_.work().rows[call->row] : nullptr;
    const double count = row != nullptr && row->is_product ? row->each.flops.value_or(0) : 0;
    if (op.is_kernel() && is_product(trace_.name_id(op.slice))) {
      product_time_ += static_cast<double>(op.span.length());
      if (count > 0) counted_time_ += static_cast<double>(op.span.length());
    }
    if (row == nullptr || row->input_dims.empty() || !calls_.insert(call).second) return;
    operations_ += count;
    add_shapes(row->op, shapes_of(row->input_dims), count);
  }

  bool is_product(StringId name) {
    const auto [known, is_new] = is_product_.try_emplace(name.value, false);
    if (!is_new) return known->second;
    const KernelKind kind = decode(trace_.strings[name]).kind;
    return known->second = kind == KernelKind::gemm || kind == KernelKind::convolution || kind == KernelKind::attention;
  }

  void add_shapes(std::string_view op, const Shapes& shapes, double count) {
    for (const auto& dims : shapes) keep_largest(out_.elements, product(dims));
    if (op == "aten::embedding" && shapes.size() > 1) keep_largest(out_.tokens, product(shapes[1]));
    const auto left = left_operand(op);
    if (!left || *left >= shapes.size() || count <= largest_) return;
    largest_ = count;
    out_.rows = product(shapes[*left], 1);
  }
  static void keep_largest(std::optional<double>& known, double value) {
    if (value > known.value_or(0)) known = value;
  }

  void add_devices() {
    std::set<std::string> names;
    for (const std::int32_t device : devices_of(side_.ops())) {
      const std::string_view name = gpu_name(trace_, device);
      names.insert(name.empty() ? "a GPU without a name" : std::string(name));
      ++out_.device_count;
    }
    out_.devices.assign(names.begin(), names.end());
  }

  void add_types() {
    std::array<Ns, 6> times{};
    Ns sum = 0;
    for (const WorkRow& row : side_.work().rows) {
      if (!row.is_product || !row.math) continue;
      times[static_cast<std::size_t>(*row.math)] += row.kernel_ns;
      sum += row.kernel_ns;
    }
    std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5};
    std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return times[x] > times[y]; });
    for (const std::size_t t : order)
      if (times[t] > 0 && static_cast<double>(times[t]) >= kTypeWorthTelling * static_cast<double>(sum))
        out_.types.emplace_back(math_type_name(static_cast<MathType>(t)));
  }

  const SideData& side_;
  const Trace& trace_;
  Problem out_;
  std::set<const CallWork*> calls_;
  std::unordered_map<std::uint32_t, bool> is_product_;  // by name
  double operations_ = 0, product_time_ = 0, counted_time_ = 0, largest_ = 0;
};

bool is_alike(double a, double b) { return std::max(a, b) <= std::min(a, b) * kSameAmount; }

std::string listed(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

void add_amounts(Likeness& out, Ns busy_a, Ns busy_b, std::string_view of_b) {
  const auto add = [&](std::string_view unit, const std::optional<double>& a, const std::optional<double>& b) {
    if (!a || !b || *a <= 0 || *b <= 0 || is_alike(*a, *b)) return;
    out.per_unit.push_back({unit, *a, *b, static_cast<double>(busy_a) / *a, static_cast<double>(busy_b) / *b});
    out.differences.push_back(fmt::format(
        "{} has {} {}: {} instead of {}.", of_b,
        *b > *a ? fmt::format("{}x the", format_significant(*b / *a)) : fmt::format("1/{} of the", format_significant(*a / *b)),
        unit == "operation" ? "operations"
        : unit == "element" ? "elements in its largest input"
        : unit == "row"     ? "rows in its largest linear layer"
                            : "tokens",
        amount_text(unit, *b), amount_text(unit, *a)));
  };
  add("operation", out.a.operations, out.b.operations);
  add("token", out.a.tokens, out.b.tokens);
  add("row", out.a.rows, out.b.rows);
  if (!out.a.operations || !out.b.operations) add("element", out.a.elements, out.b.elements);
}

SameWork work_of(const Likeness& l, bool other_grids) {
  const auto compare = [](const std::optional<double>& a, const std::optional<double>& b) {
    return !a || !b ? SameWork::unknown : is_alike(*a, *b) ? SameWork::equal : SameWork::other;
  };
  if (const SameWork work = compare(l.a.operations, l.b.operations); work != SameWork::unknown) return work;
  if (const SameWork work = compare(l.a.elements, l.b.elements); work != SameWork::unknown) return work;
  return other_grids ? SameWork::other : SameWork::unknown;
}

void add_settings(Likeness& out) {
  const auto say = [&](std::string text) { out.differences.push_back(std::move(text)); };
  if (out.a.devices != out.b.devices && out.a.device_count > 0 && out.b.device_count > 0)
    say(fmt::format("Other GPUs: {} -> {}.", listed(out.a.devices), listed(out.b.devices)));
  if (out.a.device_count != out.b.device_count && out.a.device_count > 0 && out.b.device_count > 0)
    say(fmt::format("Another number of GPUs in the file: {} -> {}.", out.a.device_count, out.b.device_count));
  if (out.a.world_size != out.b.world_size && out.a.world_size > 0 && out.b.world_size > 0)
    say(fmt::format("Another number of ranks: {} -> {}.", out.a.world_size, out.b.world_size));
  if (out.a.types != out.b.types && !out.a.types.empty() && !out.b.types.empty())
    say(fmt::format("Products are computed in other types: {} -> {}.", listed(out.a.types), listed(out.b.types)));
}

}  // namespace

Problem problem_of(const SideData& side) { return Reader(side).read(); }

std::string_view work_key(SameWork work) {
  constexpr std::array<std::string_view, 3> kKeys = {"equal", "other", "unknown"};
  return kKeys[static_cast<std::size_t>(work)];
}

Likeness likeness_of(Problem a, Problem b, bool other_grids, Ns busy_a, Ns busy_b, std::string_view of_b) {
  Likeness out;
  out.a = std::move(a);
  out.b = std::move(b);
  out.work = work_of(out, other_grids);
  add_amounts(out, busy_a, busy_b, of_b);
  if (out.work == SameWork::other && out.differences.empty())
    out.differences.emplace_back(
        "Shapes are not recorded, but kernels of one name run with other grids: the amounts of work seem to differ. Record "
        "both "
        "with record_shapes=True.");
  add_settings(out);
  return out;
}

std::string amount_text(std::string_view unit, double amount) {
  if (unit != "operation") return fmt::format("{} {}s", format_count(static_cast<std::int64_t>(std::min(amount, 9e18))), unit);
  constexpr std::array<std::string_view, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t p = 0;
  for (; amount >= 999.5 && p + 1 < kPrefixes.size(); ++p) amount /= 1000;
  return fmt::format("{} {}FLOP", format_significant(amount), kPrefixes[p]);
}

std::string per_unit_text(std::string_view unit, double ns) {
  const bool is_operation = unit == "operation";
  if (is_operation) ns *= 1e12;
  const std::string time = ns >= 1 && ns < 9e18 ? format_duration(static_cast<Ns>(ns)) : format_significant(ns) + " ns";
  return fmt::format("{}/{}", time, is_operation ? "TFLOP" : unit);
}

}  // namespace gapscope
