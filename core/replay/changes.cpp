#include "core/replay/changes.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "core/base/have_memory.h"
#include "core/base/text.h"
#include "core/replay/host_clock.h"

namespace gapscope {
namespace {

using Operation = ReplayModel::Operation;

std::vector<Ns> lengths(const ReplayModel& model) {
  std::vector<Ns> out;
  out.reserve(model.ops().size());
  for (const Operation& op : model.ops()) out.push_back(op.span.length());
  return out;
}

// The kernels of a CUDA graph follow each other within this (tests/gpu/PAIRS.md).
constexpr Ns kGapInGraph = 400;

// Recorded lengths are where changes of GPU work begin.
std::vector<Ns>& lasts_of(const ReplayModel& model, Change& change) {
  if (change.lasts.empty()) change.lasts = lengths(model);
  return change.lasts;
}

bool is_host_kind(Kind k) { return k == Kind::op || k == Kind::annotation || k == Kind::python || is_call(k); }

// `*` matches any text, everything else itself.
std::string pattern_of(std::string_view glob) {
  std::string out;
  for (std::size_t from = 0;;) {
    const std::size_t star = glob.find('*', from);
    out += re2::RE2::QuoteMeta(std::string(glob.substr(from, star - from)));
    if (star == std::string_view::npos) return out;
    out += ".*";
    from = star + 1;
  }
}

// No more than `most` passes before it.
void limit_gap(const ReplayModel& model, std::uint32_t op, Ns most, Change& change) {
  if (change.gaps.empty()) change.gaps.assign(model.ops().size(), std::numeric_limits<Ns>::max());
  change.gaps[op] = most;
}

// For a pattern that is made at once: RE2 does not survive it when it gets no memory.
re2::RE2::Options quiet() {
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_dot_nl(true);
  have_memory(static_cast<std::size_t>(options.max_mem()));
  return options;
}

std::vector<SliceId> host_slices(const Trace& trace, const NameIndex& names, std::string_view name) {
  std::vector<SliceId> out;
  const auto take = [&](StringId id) {
    for (const SliceId s : names.slices_named(id))
      if (is_host_kind(trace.kind(s))) out.push_back(s);
  };
  if (const StringId exact = trace.strings.find(name)) take(exact);
  if (!out.empty() || name.find('*') == std::string_view::npos) return out;
  const re2::RE2 regex(pattern_of(name), quiet());
  for (const StringId id : names.used_names()) {
    const std::string_view text = trace.strings[id];
    if (regex.ok() && re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), regex)) take(id);
  }
  return out;
}

// `together`: the product of those before it that make anything longer.
Result<double> factor_of(std::string_view text, double& together) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value >= 0;
  if (!is_number || (together *= std::max(1.0, value)) > kMostFactor)
    return Error{fmt::format(
        "\"{}\" is not a factor: write a number from 0 to {}, for example 0.5 for half the time. Several factors multiply.",
        printable(text), format_count(static_cast<std::int64_t>(kMostFactor)))};
  return value;
}

// One item of a list, on top of those before it.
struct Item {
  std::string_view word, rest;
};
Item item_of(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return {text, {}};
  return {text.substr(0, space), text.substr(space + 1)};
}

std::optional<Error> add_kernel(const Trace& trace, const ReplayModel& model, std::string_view text, double& together,
                                Change& change) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos)
    return Error{fmt::format("kernel: \"{}\" has no factor: write NAME=F, with a regular expression for the whole name.",
                             printable(text))};
  const Result<double> factor = factor_of(text.substr(equals + 1), together);
  if (!factor.ok()) return factor.error();
  const auto count = scale_kernels(model, trace, text.substr(0, equals), *factor, change);
  if (!count.ok()) return count.error();
  return std::nullopt;
}

std::optional<Error> add_item(const Trace& trace, const NameIndex& names, const ReplayModel& model, Item item, double& together,
                              Change& change) {
  if (item.word == "kernel") return add_kernel(trace, model, item.rest, together, change);
  if (item.word == "no-wait") return change.no_wait = true, std::nullopt;
  if (item.word == "overlap-copies") return change.overlap_copies = true, std::nullopt;
  if (item.word == "full-queues") return change.full_queues = true, std::nullopt;
  if (item.word == "graph") return change = both(change, as_graph(model)), std::nullopt;
  if (item.word == "remove") {
    const Result<Change> without = without_named(trace, names, item.rest);
    if (!without.ok()) return without.error();
    return change = both(change, *without), std::nullopt;
  }
  if (item.word != "gpu" && item.word != "host")
    return Error{
        fmt::format("\"{}\" is not a change. The changes are gpu F, kernel NAME=F, host F, remove NAME, no-wait, graph, "
                    "overlap-copies and full-queues.",
                    printable(item.word))};
  const Result<double> factor = factor_of(item.rest, together);
  if (!factor.ok()) return factor.error();
  if (item.word == "gpu")
    scale_gpu(model, *factor, change);
  else
    change.host *= *factor;
  return std::nullopt;
}

}  // namespace

void scale_gpu(const ReplayModel& model, double factor, Change& change) {
  for (Ns& time : lasts_of(model, change)) time = scaled(time, factor);
}

Result<std::size_t> scale_kernels(const ReplayModel& model, const Trace& trace, std::string_view pattern, double factor,
                                  Change& change) {
  const re2::RE2 regex(re2::StringPiece(pattern.data(), pattern.size()), quiet());
  if (!regex.ok())
    return Error{fmt::format("\"{}\" is not a regular expression: {}.", printable(pattern), printable(regex.error()))};
  std::vector<std::int8_t> matches(trace.strings.size(), -1);
  std::vector<Ns>& lasts = lasts_of(model, change);
  std::size_t count = 0;
  for (std::size_t i = 0; i < model.ops().size(); ++i) {
    const StringId name = trace.name_id(model.ops()[i].slice);
    std::int8_t& match = matches[name.index()];
    if (match < 0) {
      const std::string_view text = trace.strings[name];
      match = re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), regex) ? 1 : 0;
    }
    if (match == 0) continue;
    lasts[i] = scaled(lasts[i], factor);
    ++count;
  }
  if (count == 0)
    return Error{
        fmt::format("No GPU work has a name that \"{}\" matches as a whole. Write a regular expression for the whole name, "
                    "such as \".*gemm.*\".",
                    printable(pattern))};
  return count;
}

Change scaled_ops(const ReplayModel& model, const std::vector<std::uint32_t>& ops, double factor) {
  Change out;
  std::vector<Ns>& lasts = lasts_of(model, out);
  for (const std::uint32_t o : ops) {
    lasts[o] = scaled(model.ops()[o].span.length(), factor);
    if (factor == 0) limit_gap(model, o, 0, out);
  }
  return out;
}

Change without_slices(const Trace& trace, const std::vector<SliceId>& slices) {
  std::vector<Span> spans;
  spans.reserve(slices.size());
  for (const SliceId s : slices) spans.push_back(trace.span_of(s));
  Change out;
  out.removed = span_set(std::move(spans));
  return out;
}

Result<Change> without_named(const Trace& trace, const NameIndex& names, std::string_view name) {
  const std::vector<SliceId> slices = host_slices(trace, names, name);
  if (slices.empty())
    return Error{fmt::format("No slice of the host is named \"{}\" (a * in it matches any text).", printable(name))};
  return without_slices(trace, slices);
}

Change without_waits(std::vector<SliceId> calls) {
  Change out;
  out.freed = std::move(calls);
  std::sort(out.freed.begin(), out.freed.end());
  return out;
}

Change as_graph(const ReplayModel& model) {
  Change out;
  std::vector<Span> removed;
  std::size_t c = 0;
  for (const Span& step : model.step_parts()) {
    while (c < model.calls().size() && model.calls()[c].span.begin < step.begin) ++c;
    Span between{step.end, step.begin};
    bool any = false;
    for (; c < model.calls().size() && model.calls()[c].span.begin < step.end; ++c) {
      const ReplayModel::HostCall& call = model.calls()[c];
      if (!call.launches) continue;
      for (std::uint32_t i = any ? call.first : call.end; i < call.end; ++i)
        limit_gap(model, model.order()[i], kGapInGraph, out);
      between = {any ? between.begin : call.span.end, call.span.end};
      any = true;
    }
    if (any && !between.empty()) removed.push_back(between);
  }
  out.removed = span_set(std::move(removed));
  return out;
}

Change in_one_launch(const ReplayModel& model, const std::vector<std::uint32_t>& ops) {
  std::vector<bool> theirs(model.calls().size());
  for (const std::uint32_t o : ops)
    if (model.ops()[o].call != ReplayModel::kNone) theirs[model.ops()[o].call] = true;
  Change out;
  std::vector<Span> removed;
  for (std::size_t c = 1; c < theirs.size(); ++c) {
    const Span before = model.calls()[c - 1].span, now = model.calls()[c].span;
    const bool in_a_row = theirs[c - 1] && theirs[c] && model.calls()[c - 1].clock == model.calls()[c].clock;
    if (!in_a_row) continue;
    if (before.end < now.end) removed.push_back({before.end, now.end});
    for (std::uint32_t i = model.calls()[c].first; i < model.calls()[c].end; ++i) limit_gap(model, model.order()[i], 0, out);
  }
  out.removed = span_set(std::move(removed));
  return out;
}

Result<Change> read_changes(const Trace& trace, const NameIndex& names, const ReplayModel& model,
                            const std::vector<std::string>& list) {
  Change out;
  double together = 1;
  for (const std::string& text : list)
    if (const auto error = add_item(trace, names, model, item_of(text), together, out)) return *error;
  return out;
}

}  // namespace gapscope
