#include "core/base/table/columns.h"

#include "core/base/text.h"
#include "core/base/time.h"

namespace gapscope {

void TableRows::leave_out(std::string_view id, std::uint8_t places) {
  for (std::size_t c = 0; c < heads_.size(); ++c)
    if (id == heads_[c]->id) left_out_[c] |= places;
}

CellText usual_text(const CellValue& value, const ColumnHead& head) {
  CellText cell{display(value, head.quantity), {}, 0, head.ways.quiet || value.absent()};
  if (value.absent()) return cell;
  if (head.ways.difference && value.number() > 0) cell.text = "+" + cell.text;
  if (!is_number(head.quantity)) {
    cell.hover = cell.text;
  } else if (head.quantity != Quantity::id && value.number() == 0) {
    cell.muted = true;
  }
  if (head.quantity == Quantity::ns || head.quantity == Quantity::mean_ns)
    cell.hover = format_duration_exact(static_cast<Ns>(std::floor(value.number() + 0.5)));
  if (head.quantity == Quantity::bytes) cell.hover = format_count(static_cast<std::int64_t>(value.number())) + " bytes";
  if (head.quantity == Quantity::share) cell.share = static_cast<float>(value.number());
  return cell;
}

}  // namespace gapscope
