#pragma once
// What a right click on a row of a table or list offers.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/view/view_state.h"
#include "ui/requests.h"
#include "ui/widgets/grid.h"

namespace gapscope {

struct Document;

// The row whose menu is open, of `rows` there are: opens it where the click asks for it. To be called once a frame, after the
// grid.
std::optional<std::size_t> draw_row_menu_for(const GridClick& click, std::size_t rows);

// A row that counts slices by name.
struct RowOfSlices {
  std::string name;
  std::uint64_t count = 0;
  std::function<ResultList()> work = {};  // the GPU work that counts for them; empty: the row has none but its slices
};
void draw_row_menu(const RowOfSlices& row, const Document& document, TraceView& view, WindowState& window, Requests& out,
                   const std::function<ResultList()>& list);
// A row that is a place.
// Its entries, in a menu that is open.
void draw_place_items(const ListPlace& place, const Document& document, TraceView& view, WindowState& window, Requests& out);
void draw_place_menu(const ListPlace& place, const Document& document, TraceView& view, WindowState& window, Requests& out);

}  // namespace gapscope
