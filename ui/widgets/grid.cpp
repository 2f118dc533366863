#include "ui/widgets/grid.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <imgui_internal.h>

#include "core/base/text.h"
#include "core/view/distinct_names.h"
#include "ui/widgets/grid_keys.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kRowHeight = 22;
constexpr float kLeastName = 160;  // of the column that takes the rest: twenty letters
constexpr float kBarAlpha = 0.22f;
constexpr float kArrow = 4;  // half the width of the sort mark

constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingFixedFit |
                                   ImGuiTableFlags_RowBg | ImGuiTableFlags_NoSavedSettings;

class GridDrawing {
 public:
  GridDrawing(const Grid& grid, const WindowState& window)
      : grid_(grid),
        theme_(theme_of(window)),
        scale_(window.frame.scale),
        row_height_(std::round(kRowHeight * window.frame.scale)) {
    digit_ = text_width(Face::mono, "0");
    padding_ = ImGui::GetStyle().CellPadding.x;
  }

  GridClick draw() {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float width = grid_.width_px > 0 ? grid_.width_px : room.x;
    const float total = grid_.total ? row_height_ : 0;
    choose_columns(width);
    if (rest_of(width) < least_rest()) {
      heads_fit_ = false;
      seen_.clear();
      choose_columns(width);
    }
    for (std::size_t c = 0; c < std::min<std::size_t>(grid_.columns.size(), 64); ++c)
      if (!is_seen(c)) click_.left_out |= std::uint64_t{1} << c;
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {padding_, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, 0});
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::size_t own = std::hash<std::string_view>{}(grid_.id);
    walked_ = walked_row(own, grid_.selected, grid_.rows);
    if (ImGui::BeginTable(grid_.id, static_cast<int>(seen_.size()), kFlags,
                          {width, std::max(room.y - total, row_height_ * 2)})) {
      set_up(width);
      header();
      rows();
      ImGui::EndTable();
      if (grid_.total) totals({at.x, at.y + std::max(room.y - total, row_height_ * 2), at.x + width, 0});
    }
    ImGui::PopStyleVar(2);
    if (click_.row < 0) click_.row = walked_;
    if (click_.row >= 0) give_grid_keys(own, click_.row);
    if (has_grid_keys(own)) draw_owner_mark({at.x, at.y, at.x + width, at.y + row_height_});
    return click_;
  }

 private:
  struct Place {
    float x0 = 0, x1 = 0;
  };

  // Room for its cells, and where there is any for its head with the mark that it is sorted by.
  float fixed_width(const GridColumn& column) const {
    if (column.chars <= 0 || !heads_fit_) return column.chars * digit_;
    const bool sorted = grid_.sorted_by < grid_.columns.size() && &column == &grid_.columns[grid_.sorted_by];
    return std::max(column.chars * digit_, text_width(Face::sans, column.title) + (sorted ? 4 * kArrow * scale_ : 0));
  }

  // What is left of `width` for the column that takes the rest.
  float rest_of(float width) const {
    float rest = width - ImGui::GetStyle().ScrollbarSize;
    for (const std::size_t c : seen_) rest -= fixed_width(grid_.columns[c]) + 2 * padding_;
    return rest;
  }

  // Those that fit, and what the menu says: a column that was asked for stays, one that was put away does not come back.
  void choose_columns(float width) {
    ImGui::PushID(grid_.id);
    asked_for_ = ImGui::GetID("asked for");
    put_away_ = ImGui::GetID("put away");
    ImGui::PopID();
    const int asked_for = storage_->GetInt(asked_for_), put_away = storage_->GetInt(put_away_);
    for (std::size_t c = 0; c < grid_.columns.size(); ++c)
      if (grid_.columns[c].spare == 0 || (put_away & bit_of(c)) == 0) seen_.push_back(c);
    while (rest_of(width) < least_rest()) {
      const auto spare = [&](std::size_t c) {
        return c == grid_.sorted_by || (asked_for & bit_of(c)) != 0 ? 0 : grid_.columns[c].spare;
      };
      int most = 0;
      for (const std::size_t c : seen_) most = std::max(most, spare(c));
      if (most == 0) return;
      std::erase_if(seen_, [&](std::size_t c) { return spare(c) == most; });
    }
  }

  // Where the column that takes the rest is left out, the first one does; past the end where none was made for it.
  std::size_t rest_column() const {
    const auto at = std::find_if(seen_.begin(), seen_.end(), [&](std::size_t c) { return takes_rest(c); });
    if (at != seen_.end()) return *at;
    return seen_.size() < grid_.columns.size() && !seen_.empty() ? seen_.front() : grid_.columns.size();
  }
  bool takes_rest(std::size_t c) const { return c < grid_.columns.size() && grid_.columns[c].chars <= 0; }
  float least_rest() const { return takes_rest(rest_column()) ? kLeastName * scale_ : 0; }

  static int bit_of(std::size_t c) { return c < 31 ? 1 << c : 0; }
  bool is_seen(std::size_t c) const { return std::find(seen_.begin(), seen_.end(), c) != seen_.end(); }

  void set_up(float width) {
    const float rest = std::max(rest_of(width), least_rest());
    ImGui::TableSetupScrollFreeze(1, 1);
    for (const std::size_t c : seen_) {
      const GridColumn& column = grid_.columns[c];
      ImGui::TableSetupColumn(column.title, ImGuiTableColumnFlags_WidthFixed | ImGuiTableColumnFlags_NoResize,
                              fixed_width(column) + (c == rest_column() ? rest : 0));
    }
    places_.resize(grid_.columns.size());
  }

  void header() {
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers, row_height_);
    for (std::size_t n = 0; n < seen_.size(); ++n) {
      if (!ImGui::TableSetColumnIndex(static_cast<int>(n))) continue;
      const std::size_t i = seen_[n];
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float whole = ImGui::GetContentRegionAvail().x;
      places_[i] = {at.x, at.x + whole};
      const float width = whole - (i == rest_column() ? draw_more(at, whole) : 0);
      ImGui::SetCursorScreenPos(at);
      ImGui::PushID(static_cast<int>(i));
      if (ImGui::InvisibleButton("header", {std::max(width, 1.0f), row_height_})) click_.header = static_cast<std::int64_t>(i);
      draw_hover(grid_.columns[i].help);
      const bool hot = ImGui::IsItemHovered();
      title(i, at, width, hot);
      ImGui::PopID();
    }
  }

  // "+3" at the end of the widest header, where columns are left out: their menu. Gives its width.
  float draw_more(ImVec2 at, float width) {
    if (seen_.size() == grid_.columns.size() && !ImGui::IsPopupOpen("columns")) return 0;
    const std::string text = "+" + std::to_string(grid_.columns.size() - seen_.size());
    const float own = text_width(Face::mono, text);
    ImGui::SetCursorScreenPos({at.x + width - own, at.y});
    if (ImGui::InvisibleButton("more", {own, row_height_})) ImGui::OpenPopup("columns");
    draw_hover("More columns: choose which are shown.");
    ImGui::SetCursorScreenPos({at.x + width - own, at.y + (row_height_ - font_size(Face::mono)) / 2});
    draw_text(Face::mono, theme_.accent, text);
    if (ImGui::BeginPopup("columns")) {
      for (std::size_t c = 0; c < grid_.columns.size(); ++c)
        if (grid_.columns[c].spare > 0) column_item(c);
      ImGui::EndPopup();
    }
    return own + padding_;
  }

  void column_item(std::size_t c) {
    const bool seen = is_seen(c);
    ImGui::PushID(static_cast<int>(c));
    if (ImGui::MenuItem(grid_.columns[c].title, nullptr, seen)) {
      ImGuiStorage& storage = *storage_;
      storage.SetInt(asked_for_, seen ? storage.GetInt(asked_for_) & ~bit_of(c) : storage.GetInt(asked_for_) | bit_of(c));
      storage.SetInt(put_away_, seen ? storage.GetInt(put_away_) | bit_of(c) : storage.GetInt(put_away_) & ~bit_of(c));
    }
    draw_hover(grid_.columns[c].help);
    ImGui::PopID();
  }

  void title(std::size_t i, ImVec2 at, float width, bool hot) {
    const GridColumn& column = grid_.columns[i];
    const bool sorted = grid_.sorted_by == i;
    const Rgb rgb = sorted || hot ? theme_.text : theme_.muted;
    const float own = text_width(Face::sans, column.title);
    const float x = column.number ? at.x + width - own : at.x;
    ImGui::SetCursorScreenPos({x, at.y + (row_height_ - font_size(Face::sans)) / 2});
    draw_text(Face::sans, rgb, column.title);
    if (!sorted) return;
    const float half = kArrow * scale_;
    const float cx = column.number ? x - half * 2 : x + own + half * 2.5f;
    const float cy = at.y + row_height_ / 2;
    const float tip = grid_.descending ? half * 0.6f : -half * 0.6f;
    ImGui::GetWindowDrawList()->AddTriangleFilled({cx - half, cy - tip}, {cx + half, cy - tip}, {cx, cy + tip},
                                                  colour(theme_.accent));
  }

  // The table that the arrows walk through says so by a line along its head.
  void draw_owner_mark(const Box& head) {
    ImGui::GetWindowDrawList()->AddRectFilled({head.x0, head.y1 - std::max(1.0f, scale_)}, {head.x1, head.y1},
                                              colour(theme_.accent));
  }

  // As little as brings a row into sight below the head.
  void reveal(std::int64_t row) {
    const float top = static_cast<float>(row) * row_height_, room = ImGui::GetWindowHeight() - 2 * row_height_;
    if (ImGui::GetScrollY() > top) ImGui::SetScrollY(top);
    if (ImGui::GetScrollY() + room < top + row_height_) ImGui::SetScrollY(top + row_height_ - room);
  }

  void rows() {
    if (walked_ >= 0) reveal(walked_);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(grid_.rows), row_height_);
    while (clipper.Step()) {
      tell_names_apart(static_cast<std::size_t>(clipper.DisplayStart), static_cast<std::size_t>(clipper.DisplayEnd));
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) row(static_cast<std::size_t>(i));
    }
  }

  // The names of the rows in sight, as wide as their column.
  void tell_names_apart(std::size_t first, std::size_t last) {
    first_named_ = first;
    names_.clear();
    if (grid_.columns.empty() || grid_.columns[0].number || grid_.columns[0].painted) return;
    for (std::size_t r = first; r < last; ++r) names_.push_back(grid_.cell(r, 0).text);
    if (grid_.whole_name) tell_alike_apart();
    names_ = distinct_names(names_, chars_in(places_[0].x1 - places_[0].x0));
  }

  void tell_alike_apart() {
    std::map<std::string, std::size_t> count;
    for (const std::string& name : names_) ++count[name];
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (count[names_[i]] > 1) names_[i] = grid_.whole_name(first_named_ + i);
  }

  std::size_t chars_in(float width) const { return static_cast<std::size_t>(std::max(width / digit_, 1.0f)); }

  // The second click of two opens what the first one chose, and does not choose the row again.
  void take_click(std::size_t r) {
    if (!ImGui::IsMouseDoubleClicked(0)) {
      click_.row = static_cast<std::int64_t>(r);
      return;
    }
    give_grid_keys(std::hash<std::string_view>{}(grid_.id), static_cast<std::int64_t>(r));
    open_row();
  }

  void row(std::size_t r) {
    ImGui::TableNextRow(ImGuiTableRowFlags_None, row_height_);
    ImGui::TableSetColumnIndex(0);
    ImGui::PushID(static_cast<int>(r));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool selected = grid_.selected == static_cast<std::int64_t>(r);
    constexpr auto kWholeRow = ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowDoubleClick;
    if (ImGui::Selectable("##row", selected, kWholeRow, {0, row_height_})) take_click(r);
    const ImGuiLastItemData item = ImGui::GetCurrentContext()->LastItemData;
    const bool hot = ImGui::IsItemHovered();
    if (hot && ImGui::IsMouseReleased(1)) click_.menu = static_cast<std::int64_t>(r);
    const float mouse = ImGui::GetIO().MousePos.x;
    for (std::size_t n = 0; n < seen_.size(); ++n) {
      if (!ImGui::TableSetColumnIndex(static_cast<int>(n))) continue;
      const std::size_t c = seen_[n];
      const float x0 = c == 0 ? at.x : ImGui::GetCursorScreenPos().x;
      const float width = ImGui::GetContentRegionAvail().x;
      if (grid_.columns[c].painted) {
        grid_.paint(r, {x0, at.y, x0 + width, at.y + row_height_});
        continue;
      }
      GridCell cell = grid_.cell(r, c);
      if (c == 0 && r - first_named_ < names_.size()) cell.text = names_[r - first_named_];
      draw_cell(cell, c, {x0, at.y}, width);
      if (!hot || mouse < x0 - padding_ || mouse >= x0 + width + padding_) continue;
      ImGui::GetCurrentContext()->LastItemData = item;
      hover(cell, width);
    }
    ImGui::PopID();
  }

  // As of a control, once the pointer rests: else it covers the rows that the pointer goes to.
  void hover(const GridCell& cell, float width) {
    const bool is_in_sight = cell.hover == cell.text && utf8_length(cell.text) <= chars_in(width);
    if (!is_in_sight && !pointer_rests()) draw_hover(cell.hover);
  }

  void draw_cell(const GridCell& cell, std::size_t c, ImVec2 at, float width) {
    const float y = at.y + (row_height_ - font_size(Face::mono)) / 2;
    if (cell.share > 0)
      ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + 3 * scale_},
                                                {at.x + width * std::min(cell.share, 1.0f), at.y + row_height_ - 3 * scale_},
                                                colour(cell.ink.value_or(theme_.accent), kBarAlpha), scale_);
    const Rgb rgb = cell.ink.value_or(cell.muted ? theme_.muted : theme_.text);
    const GridColumn& column = grid_.columns[c];
    if (!column.number) {
      ImGui::SetCursorScreenPos({at.x, y});
      return draw_text(Face::mono, rgb, elide_middle(cell.text, chars_in(width)));
    }
    draw_number(cell, column, {at.x, y}, width, rgb);
  }

  void draw_number(const GridCell& cell, const GridColumn& column, ImVec2 at, float width, Rgb rgb) {
    const std::size_t space = column.unit_chars > 0 ? cell.text.rfind(' ') : std::string::npos;
    const std::string digits = cell.text.substr(0, space);
    const float unit = column.unit_chars > 0 ? static_cast<float>(column.unit_chars + 1) * digit_ : 0;
    const float end = at.x + width - unit;
    ImGui::SetCursorScreenPos({end - text_width(Face::mono, digits), at.y});
    draw_text(Face::mono, rgb, digits);
    if (space == std::string::npos) return;
    ImGui::SetCursorScreenPos({end + digit_, at.y});
    // On a bar second-rank text would be hard to read.
    draw_text(Face::mono, cell.share > 0 ? blend(theme_.muted, theme_.text, 0.5f) : theme_.muted, cell.text.substr(space + 1));
  }

  void totals(const Box& at) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float y1 = at.y0 + row_height_;
    list.AddRectFilled({at.x0, at.y0}, {at.x1, y1}, colour(theme_.raised));
    list.AddRectFilled({at.x0, at.y0}, {at.x1, at.y0 + std::max(1.0f, scale_)}, colour(theme_.line));
    const float first_end = places_.empty() ? at.x0 : places_.front().x1;
    for (std::size_t c = 0; c < places_.size(); ++c) {
      if (places_[c].x1 <= places_[c].x0) continue;
      if (c > 0 && (places_[c].x0 < first_end || places_[c].x1 > at.x1)) continue;  // scrolled out of sight
      draw_cell(grid_.total(c), c, {places_[c].x0, at.y0}, places_[c].x1 - places_[c].x0);
    }
    ImGui::SetCursorScreenPos({at.x0, y1});
    ImGui::Dummy({1, 0});
  }

  const Grid& grid_;
  const Theme& theme_;
  float scale_;
  float row_height_;
  float digit_ = 8;
  float padding_ = 6;
  std::vector<std::size_t> seen_;                     // positions of the columns that are shown
  ImGuiStorage* storage_ = ImGui::GetStateStorage();  // of the panel that the table is in: what its menu says
  ImGuiID asked_for_ = 0, put_away_ = 0;
  std::vector<Place> places_;
  std::vector<std::string> names_;  // of the rows from first_named_ on
  std::size_t first_named_ = 0;
  bool heads_fit_ = true;
  GridClick click_;
  std::int64_t walked_ = -1;  // the row that keys went to in this frame
};

}  // namespace

GridClick draw_grid(const Grid& grid, const WindowState& window) { return GridDrawing(grid, window).draw(); }

}  // namespace gapscope
