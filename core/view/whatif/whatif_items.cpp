// What a person may change about one slice, name, gap or finding, in words.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/whatif/whatif_model.h"

namespace gapscope {
namespace {

constexpr const char* kSliceHelp = "Replay the recording without it, in the tab What if.";
constexpr const char* kNameHelp = "Replay the recording without all slices of this name, in the tab What if.";
constexpr const char* kHalfHelp = "Replay the recording with all work of this name twice as fast, in the tab What if.";

bool is_of_host(Kind k) { return k == Kind::op || k == Kind::annotation || k == Kind::python || is_call(k); }

// Slices of its name and kind.
std::size_t count_like(const Document& document, SliceId slice) {
  const Trace& trace = document.trace;
  std::size_t count = 0;
  for (const SliceId s : document.names.slices_named(trace.name_id(slice))) count += trace.kind(s) == trace.kind(slice) ? 1 : 0;
  return count;
}

std::string factor_words(double factor) {
  if (factor == 0) return "takes no time";
  return factor == 0.5 ? "takes half of its time" : fmt::format("takes {} of its time", format_percent(factor));
}

bool about_the_same(const WhatIfItem& a, const WhatIfItem& b) {
  return a.of == b.of && a.slice == b.slice && a.span == b.span && a.device == b.device && a.finding == b.finding;
}

WhatIfItem item_of(WhatIfItem::Of of, SliceId slice, double factor) {
  WhatIfItem item;
  item.of = of;
  item.slice = slice;
  item.factor = factor;
  return item;
}

// One item for all slices of a name, whichever of them was pointed at.
SliceId first_like(const Document& document, SliceId slice) {
  const Trace& trace = document.trace;
  for (const SliceId s : document.names.slices_named(trace.name_id(slice)))
    if (trace.kind(s) == trace.kind(slice)) return s;
  return slice;
}

// One change of a list; false where it is none.
bool add_change(const Document& document, std::string_view word, std::string_view rest, WhatIfChanges& changes) {
  if (word == "no-wait") return changes.no_wait = true;
  if (word == "graph") return changes.graph = true;
  if (word == "overlap-copies") return changes.overlap_copies = true;
  if (word == "roofline") return changes.roofline = true;
  if (word == "gpu" || word == "host") {
    double& factor = word == "gpu" ? changes.gpu : changes.host;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), factor);
    return error == std::errc() && end == rest.data() + rest.size() && std::isfinite(factor) && factor >= 0 &&
           factor <= kMostWhatIfFactor;
  }
  if (word == "plan" && document.diagnosis() && !document.diagnosis()->plan.items.empty())
    return set_finding(changes, document.diagnosis()->plan.items.front().finding, true), true;
  const StringId name = word == "remove" ? document.trace.strings.find(rest) : StringId{};
  const auto named = name.valid() ? document.names.slices_named(name) : std::span<const SliceId>{};
  const auto choices = named.empty() ? std::vector<ItemChoice>{} : choices_for_name(document, named.front());
  if (!choices.empty()) set_item(changes, choices.front().item);
  return !choices.empty();
}

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

Result<WhatIfChanges> read_what_if(const Document& document, std::string_view list) {
  WhatIfChanges out;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(';'), list.size());
    const std::string_view item = without_spaces(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (item.empty()) continue;
    const std::size_t space = std::min(item.find(' '), item.size());
    if (!add_change(document, item.substr(0, space), without_spaces(item.substr(space)), out))
      return Error{
          fmt::format("\"{}\" is no change of this trace: there are gpu F and host F with F from 0 to {}, no-wait, graph, "
                      "overlap-copies, roofline, plan, and remove NAME with a slice's whole name.",
                      printable(item), kMostWhatIfFactor)};
  }
  return out;
}

ItemWords words_of(const Document& document, const WhatIfItem& item) {
  const Trace& trace = document.trace;
  if (item.of == WhatIfItem::Of::finding) {
    const Diagnosis* diagnosis = document.diagnosis();
    const auto at = static_cast<std::size_t>(item.finding);
    if (!diagnosis || at >= diagnosis->findings.size()) return {};
    return {title_of(*diagnosis, *diagnosis->findings[at].finding.rule), "what its remedy changes"};
  }
  if (item.of == WhatIfItem::Of::gap)
    return {fmt::format("GPU {} idle at {}", item.device, format_duration(item.span.begin - trace.span.begin)),
            fmt::format("the host takes no time in these {}", format_duration(item.span.length()))};
  std::string title = printable(shown_name(trace, item.slice));
  if (item.of == WhatIfItem::Of::name)
    title += fmt::format(" ({})", format_count(static_cast<std::int64_t>(count_like(document, item.slice))));
  if (is_gpu_work(trace.kind(item.slice))) return {std::move(title), factor_words(item.factor)};
  return {std::move(title),
          is_call(trace.kind(item.slice)) ? "takes no time, and does not wait" : "takes no host time; waits in it stay"};
}

std::vector<ItemChoice> choices_for_name(const Document& document, SliceId slice) {
  const Kind kind = document.trace.kind(slice);
  const bool work = is_gpu_work(kind);
  if (document.trace.is_part || (!work && !is_of_host(kind))) return {};
  const SliceId first = first_like(document, slice);
  std::vector<ItemChoice> out = {{"What if all of these took no time?", kNameHelp, item_of(WhatIfItem::Of::name, first, 0)}};
  if (work) out.push_back({"What if they took half?", kHalfHelp, item_of(WhatIfItem::Of::name, first, 0.5)});
  return out;
}

std::vector<ItemChoice> choices_for_slice(const Document& document, SliceId slice) {
  std::vector<ItemChoice> out = choices_for_name(document, slice);
  if (out.empty()) return out;
  const std::size_t count = count_like(document, slice);
  const bool many = count > 1;
  const std::string all = fmt::format("all {} like it", format_count(static_cast<std::int64_t>(count)));
  out[0].title = many ? fmt::format("What if {} took no time?", all) : "";
  if (out.size() > 1) out[1].title = fmt::format("What if {} took half?", many ? all : "this");
  if (!many) out.erase(out.begin());
  out.insert(out.begin(), {"What if this took no time?", kSliceHelp, item_of(WhatIfItem::Of::slice, slice, 0)});
  return out;
}

void set_item(WhatIfChanges& changes, const WhatIfItem& item) {
  const auto same = std::find_if(changes.items.begin(), changes.items.end(),
                                 [&](const WhatIfItem& other) { return about_the_same(item, other); });
  if (same != changes.items.end())
    *same = item;
  else
    changes.items.push_back(item);
}

void remove_item(WhatIfChanges& changes, std::size_t position) {
  changes.items.erase(changes.items.begin() + static_cast<std::ptrdiff_t>(position));
}

bool has_finding(const WhatIfChanges& changes, std::int32_t finding) {
  return std::any_of(changes.items.begin(), changes.items.end(),
                     [&](const WhatIfItem& i) { return i.of == WhatIfItem::Of::finding && i.finding == finding; });
}

void set_finding(WhatIfChanges& changes, std::int32_t finding, bool on) {
  std::erase_if(changes.items, [&](const WhatIfItem& i) { return i.of == WhatIfItem::Of::finding && i.finding == finding; });
  if (!on) return;
  WhatIfItem item;
  item.of = WhatIfItem::Of::finding;
  item.finding = finding;
  changes.items.push_back(item);
}

}  // namespace gapscope
