#include "core/analyze/gpu/gap_columns.h"

#include <array>
#include <string>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

using Context = GapContext;

constexpr std::array<IdleClassWords, kIdleClasses> kWords = {{
    {"host wait", "The next work was launched after the stream had become idle: the CPU was late."},
    {"kernel wait", "Launched in time, and shorter than 30 µs: what the GPU needs between two kernels."},
    {"other", "Launched in time, yet long: it waited for another stream, or its launch is not in the file."},
}};

CellValue begin(const Context& of, const IdleGap& gap) { return gap.span.begin - of.trace.span.begin; }
CellValue idle(const Context&, const IdleGap& gap) { return gap.span.length(); }

CellValue name_of(const Context& of, SliceId slice) { return slice ? CellValue(of.trace.name(slice)) : CellValue(); }

CellText class_text(const Context&, const IdleGap& gap) {
  const IdleClassWords& words = words_of(gap.idle_class);
  return {words.title, words.help};
}

CellText stream_text(const Context&, const IdleGap& gap) {
  return {std::to_string(gap.device) + " / " + std::to_string(gap.stream), {}, 0, true};
}

CellText responsible_text(const Context& of, const IdleGap& gap) {
  if (!gap.cause) return {"-", "Neither a call over the gap nor a late launch is in the file.", 0, true};
  const std::string name = printable(shown_name(of.trace, gap.cause));
  const std::string after = gap.after ? printable(shown_name(of.trace, gap.after)) : "the end";
  return {name + "  before  " + after, name + "\nbefore " + after};
}

using enum Quantity;
constexpr std::uint8_t kShown = kInGrid | kInCsv;

using TableColumn = ColumnOf<IdleGap, Context>;
constexpr TableColumn kColumns[] = {
    TableColumn("begin", "Begin", "From the start of the trace.", ns, begin, {.in = kShown, .chars = 11, .quiet = true}),
    TableColumn("idle", "Idle", "How long the stream was idle.", ns, idle, {.in = kShown, .chars = 11, .sorted = true}),
    TableColumn(
        "class", "Class", "By HTA's rule.", text,
        [](const Context&, const IdleGap& gap) -> CellValue { return words_of(gap.idle_class).title; },
        {.in = kShown, .chars = 12}, class_text),
    TableColumn("device", "GPU", "Number of the GPU.", id, &field<&IdleGap::device>, {.in = kInCsv}),
    TableColumn("stream", "Stream", "GPU and stream.", id, &field<&IdleGap::stream>, {.in = kShown, .chars = 10, .spare = 1},
                stream_text),
    TableColumn(
        "cause", "Responsible", "The call that covers most of the gap, or the launch that came late; and the work that waited.",
        symbol, [](const Context& of, const IdleGap& gap) { return name_of(of, gap.cause); }, {.in = kShown, .chars = 0},
        responsible_text),
    TableColumn("after", "After", "The work that waited.", symbol,
                [](const Context& of, const IdleGap& gap) { return name_of(of, gap.after); }, {.in = kInCsv}),
};

}  // namespace

const IdleClassWords& words_of(IdleClass idle_class) { return kWords[static_cast<std::size_t>(idle_class)]; }

GapRows gap_rows(const Trace& trace, const IdleGaps& gaps) { return {kColumns, {trace}, gaps.size(), {gaps}}; }

}  // namespace gapscope
