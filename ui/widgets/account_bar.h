#pragma once
// The time account of a GPU as one stacked bar: what it did with the window, and why it was idle.
#include <optional>

#include "core/view/timeline/gap_view.h"
#include "ui/timeline/painter.h"

namespace gapscope {

// `box` filled with the colour and hatch of a part.
void fill_part(Painter& painter, const Box& box, const AccountPart& part, const WindowState& window, float alpha = 1);
void fill_cause(Painter& painter, const Box& box, IdleCause cause, const WindowState& window, float alpha);

// What a bar is the account of: the times of a device in a stretch.
struct BarOf {
  const Document& document;
  const DeviceAccount& device;
  Span stretch;
  AccountTimes times;
};
// The bar in `box`, an item each part with its words and what helps against it as a tooltip. The part that was clicked.
std::optional<AccountPart> draw_account_bar(const Box& box, const BarOf& of, TraceView& view, const WindowState& window);
// The bar of the busiest device at the cursor, as wide as the column, with its `most_words` largest parts in words; a click on
// idle time goes to the longest gap of that cause, the next to the next shorter one. Nothing where there is no account.
enum class AccountDrawing : std::uint8_t { all, first };  // first: of a plain program not also what was recorded
void draw_account(const Document& document, TraceView& view, const WindowState& window, std::size_t most_words,
                  AccountDrawing drawing = AccountDrawing::all);
// The same for a part of the bar that was clicked elsewhere.
void go_to_part(const Document& document, TraceView& view, const WindowState& window, const DeviceAccount& device,
                const AccountPart& part);

}  // namespace gapscope
