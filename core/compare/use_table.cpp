#include "core/compare/use_table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {
namespace {

using Value = std::optional<double>;

const OverviewDevice* busiest(const RunOverview& o) {
  const OverviewDevice* found = nullptr;
  for (const OverviewDevice& d : o.devices)
    if (found == nullptr || (d.account != nullptr &&
                             (found->account == nullptr || d.account->times.idle_total() < found->account->times.idle_total())))
      found = &d;
  return found;
}

// Of the busiest device, where it has figures and where these have the value.
Value figure(const RunOverview& o, std::optional<double> GpuFigures::*which, double unit = 1) {
  const OverviewDevice* d = busiest(o);
  if (d == nullptr || d->activity == nullptr || !(d->activity->figures.*which)) return std::nullopt;
  return *(d->activity->figures.*which) * unit;
}
Value quotient(Ns part, Ns whole) {
  return whole > 0 ? Value(static_cast<double>(part) / static_cast<double>(whole)) : std::nullopt;
}
Value of_account(const RunOverview& o, Ns (*part)(const AccountTimes&)) {
  const OverviewDevice* d = busiest(o);
  return d != nullptr && d->account != nullptr ? quotient(part(d->account->times), d->account->times.window) : std::nullopt;
}
Value of_rates(const RunOverview& o, Value (*which)(const RateFigures&)) { return o.rates ? which(*o.rates) : std::nullopt; }
Value peak_memory(const RunOverview& o) {
  Value most;
  for (const OverviewDevice& d : o.devices)
    if (d.peak_bytes) most = std::max(most.value_or(0), static_cast<double>(*d.peak_bytes));
  return most;
}

struct UseColumn {
  const char *key, *title;
  UseUnit unit;
  Value (*read)(const RunOverview&);
};
constexpr UseColumn kColumns[] = {
    {"step", "step, median of all", UseUnit::time,
     [](const RunOverview& o) { return o.steps ? Value(static_cast<double>(o.steps->median)) : std::nullopt; }},
    {"utilization", "GPU utilization", UseUnit::share,
     [](const RunOverview& o) { return figure(o, &GpuFigures::utilization); }},
    {"sm_efficiency", "est. SM efficiency", UseUnit::share,
     [](const RunOverview& o) { return figure(o, &GpuFigures::sm_efficiency); }},
    {"occupancy", "est. achieved occupancy", UseUnit::share,
     // Not where kernels count as 0 that are not: the difference would be that of their share.
     [](const RunOverview& o) {
       return o.zero_occupancy_time > 0 ? Value() : figure(o, &GpuFigures::achieved_occupancy_percent, 0.01);
     }},
    {"tensor_cores", "kernel time in tensor-core kernels", UseUnit::share,
     [](const RunOverview& o) { return quotient(o.tensor_core_time, o.kernel_time); }},
    {"flops", "rate of products", UseUnit::rate,
     [](const RunOverview& o) { return of_rates(o, [](const RateFigures& r) { return Value(r.per_second); }); }},
    {"peak_share", "rate of products, of the peak", UseUnit::share,
     [](const RunOverview& o) { return of_rates(o, [](const RateFigures& r) { return r.peak_share; }); }},
    {"flops_of_window", "rate over the window", UseUnit::rate,
     [](const RunOverview& o) { return of_rates(o, [](const RateFigures& r) { return Value(r.per_second_of_window); }); }},
    {"memory", "peak memory", UseUnit::bytes, peak_memory},
    {"account.compute", "window: compute", UseUnit::share,
     [](const RunOverview& o) { return of_account(o, [](const AccountTimes& t) { return t.compute; }); }},
    {"account.exposed_communication", "window: exposed communication", UseUnit::share,
     [](const RunOverview& o) { return of_account(o, [](const AccountTimes& t) { return t.exposed_communication; }); }},
    {"account.exposed_copies", "window: exposed copies", UseUnit::share,
     [](const RunOverview& o) { return of_account(o, [](const AccountTimes& t) { return t.exposed_copies; }); }},
    {"account.idle", "window: idle", UseUnit::share,
     [](const RunOverview& o) { return of_account(o, [](const AccountTimes& t) { return t.idle_total(); }); }},
};

std::string cause_key(IdleCause cause) { return fmt::format("account.idle.{}", idle_cause_key(cause)); }

Value idle_share(const RunOverview& o, IdleCause cause) {
  const OverviewDevice* d = busiest(o);
  return d != nullptr && d->account != nullptr ? quotient(d->account->times.of(cause), d->account->times.window) : std::nullopt;
}

}  // namespace

std::vector<UseRow> use_table(const RunOverview& a, const RunOverview& b) {
  std::vector<UseRow> rows;
  const auto is_nothing = [](const Value& v) { return !v || *v == 0; };
  for (const UseColumn& column : kColumns) {
    UseRow row{column.key, column.title, column.unit, column.read(a), column.read(b)};
    const bool is_part = row.key.starts_with("account.") && row.key != "account.compute";
    if ((row.a || row.b) && !(is_part && is_nothing(row.a) && is_nothing(row.b))) rows.push_back(std::move(row));
  }
  const ProgramKind program = kind_of_both(a.recording.program, b.recording.program);
  for (std::size_t c = 0; c < kIdleCauses; ++c) {
    const auto cause = static_cast<IdleCause>(c);
    UseRow row{cause_key(cause), fmt::format("  {}", idle_cause_title(cause, program)), UseUnit::share, idle_share(a, cause),
               idle_share(b, cause)};
    if (!is_nothing(row.a) || !is_nothing(row.b)) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> use_keys() {
  std::vector<std::string> keys;
  for (const UseColumn& column : kColumns) keys.emplace_back(column.key);
  for (std::size_t c = 0; c < kIdleCauses; ++c) keys.push_back(cause_key(static_cast<IdleCause>(c)));
  return keys;
}

std::string use_text(UseUnit unit, const std::optional<double>& value) {
  if (!value) return "-";
  switch (unit) {
    case UseUnit::time: return format_duration(static_cast<Ns>(*value));
    case UseUnit::share: return format_percent(*value);
    case UseUnit::bytes: return format_bytes(static_cast<std::uint64_t>(std::max(0.0, *value)));
    case UseUnit::rate: break;
  }
  return format_significant(*value / 1e12) + " TFLOP/s";
}

}  // namespace gapscope
