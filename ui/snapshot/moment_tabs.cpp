// What holds the memory at the chosen moment: as a flame graph, by line, as a map of the segments; what grows, what changed.
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "ui/snapshot/snapshot_drawing.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kFlameRow = 20, kMapRow = 22, kPoolTitle = 24;  // px at scale 1
constexpr float kLeastLabel = 26;
constexpr int kMostRows = 500;

std::string share_text(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? format_percent(static_cast<double>(part) / static_cast<double>(whole)) : "-";
}

// That of its band in the chart, else one by its name.
const Paint& paint_of_place(const WindowState& window, const BlockHistory& history, std::string_view place) {
  for (std::size_t i = 0; i < history.bands().size(); ++i)
    if (history.bands()[i].place == place) return band_paint(window, history, i);
  return paint_of(window.settings.slice_colours, Hue::python, shade_of(place));
}

bool is_unknown(const HeldBlock& held) { return held.stack == 0 && held.allocated_by == kBeforeHistory; }

// Bytes above columns of text; the last is as wide as there is room.
bool begin_table(const char* id, std::initializer_list<const char*> columns) {
  const int count = static_cast<int>(columns.size());
  if (!ImGui::BeginTable(id, count, ImGuiTableFlags_RowBg | ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_ScrollY))
    return false;
  int i = 0;
  for (const char* column : columns)
    ImGui::TableSetupColumn(column, ++i == count ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed);
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableHeadersRow();
  return true;
}

void cell(Face face, Rgb rgb, std::string_view text) {
  ImGui::TableNextColumn();
  draw_text(face, rgb, text);
}

}  // namespace

void SnapshotPage::draw_flame(Drawing& d) {
  const HolderTree& tree = d.moment.tree;
  if (tree.nodes[0].bytes <= 0) return draw_absence(d.window, "No memory is in use at this time.");
  ImGui::BeginChild("holders");
  const float width = std::max(std::floor(ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ScrollbarSize), 1.0f);
  if (boxes_width_ != width || boxes_zoom_ != zoom_) {
    boxes_ = holder_boxes(tree, zoom_, width);
    box_paints_.clear();
    for (const HolderBox& box : boxes_)
      box_paints_.push_back(
          &paint_of_place(d.window, d.device(device_).history, node_words(d.snapshot(), tree.nodes[box.node])));
    boxes_width_ = width;
    boxes_zoom_ = zoom_;
  }
  std::uint32_t rows = 1;
  for (const HolderBox& box : boxes_) rows = std::max(rows, box.row + 1);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float y0 = ImGui::GetWindowPos().y, y1 = y0 + ImGui::GetWindowHeight(), row = d.px(kFlameRow);
  Painter p(*ImGui::GetWindowDrawList(), d.window.frame.scale);
  ImGui::InvisibleButton("boxes", {width, static_cast<float>(rows) * row});
  const bool hovered = ImGui::IsItemHovered();
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    const HolderBox& holder = boxes_[i];
    const float y = at.y + static_cast<float>(holder.row) * row;
    const Box box{at.x + holder.x0, y, at.x + holder.x1, y + row - 1};
    if (box.y1 <= y0 || box.y0 >= y1) continue;
    const HolderNode& node = tree.nodes[holder.node];
    const bool plain = node.depth == 0 || holder.folded > 0;
    const Paint& paint = *box_paints_[i];
    p.fill(box, plain ? colour(d.theme.line) : colour(paint.fill));
    if (box.width() > 3) p.line_y(box.x1 - p.hairline(), box.y0, box.y1, plain ? colour(d.theme.surface) : colour(paint.edge));
    if (holder.folded == 0 && box.width() >= p.px(kLeastLabel))
      p.text_in(Face::mono, {box.x0 + p.px(4), box.y0, box.x1 - p.px(2), box.y1}, colour(plain ? d.theme.text : paint.text),
                printable(node_words(d.snapshot(), node)) + "  " + bytes_text(node.bytes));
    if (!hovered || !box.holds(ImGui::GetIO().MousePos)) continue;
    p.fill(box, colour(d.theme.text, 0.16f));
    std::string hover = holder.folded > 0 ? fmt::format("{} more, too narrow to show: click to zoom", count_text(holder.folded))
                                          : fmt::format("{}\n{} ({}) in {} blocks", printable(node_words(d.snapshot(), node)),
                                                        bytes_text(node.bytes), share_text(node.bytes, tree.nodes[0].bytes),
                                                        count_text(node.blocks));
    if (node.frame != HolderNode::kNoFrame && holder.folded == 0)
      hover += '\n' + printable(d.snapshot().texts[d.snapshot().frames[node.frame].file]);
    draw_tooltip({box.x0, box.y0}, {box.x1, box.y1}, hover);
    if (ImGui::IsMouseClicked(0)) zoom_ = holder.node;
  }
  ImGui::EndChild();
}

void SnapshotPage::draw_lines(Drawing& d) {
  const std::vector<LineHolder>& lines = d.moment.holders.lines;
  if (lines.empty()) return draw_absence(d.window, "No memory is in use at this time.");
  if (!begin_table("lines", {"", "Bytes", "Share", "Blocks", "Line"})) return;
  const BlockHistory& history = d.device(device_).history;
  ImGuiListClipper clipper;
  clipper.Begin(std::min(static_cast<int>(lines.size()), kMostRows));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const LineHolder& line = lines[static_cast<std::size_t>(i)];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float size = ImGui::GetFontSize() - d.px(4);
      Painter(*ImGui::GetWindowDrawList(), d.window.frame.scale)
          .fill({at.x, at.y + d.px(2), at.x + size, at.y + d.px(2) + size},
                colour(paint_of_place(d.window, history, line.place).fill));
      ImGui::Dummy({size, size});
      cell(Face::mono, d.theme.text, bytes_text(line.bytes));
      cell(Face::mono, d.theme.muted, share_text(line.bytes, d.moment.tree.nodes[0].bytes));
      cell(Face::mono, d.theme.muted, count_text(line.blocks));
      cell(Face::mono, d.theme.text, printable(line.place));
    }
  ImGui::EndTable();
}

void SnapshotPage::draw_segments(Drawing& d) {
  const SnapshotState& state = d.moment.state;
  if (state.segments.empty()) return draw_absence(d.window, "PyTorch has no reserved memory at this time.");
  ImGui::BeginChild("segments");
  const float width = std::max(std::floor(ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ScrollbarSize), 1.0f);
  const OpenedDevice& device = d.device(device_);
  if (map_width_ != width) {
    map_ = segment_map(state, map_width_ = width);
    map_paints_.clear();
    std::unordered_map<std::uint64_t, const Paint*> known;  // by stack
    for (const MapBox& box : map_.boxes) {
      map_paints_.push_back(nullptr);
      if (box.held == MapBox::kHole) continue;
      const HeldBlock& held = state.held[box.held];
      const Paint*& paint = known[std::uint64_t{held.stack} << 1 | (is_unknown(held) ? 1U : 0U)];
      if (!paint) paint = &paint_of_place(d.window, device.history, holder_words(d.snapshot(), held.stack, is_unknown(held)));
      map_paints_.back() = paint;
    }
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float row = d.px(kMapRow), title = d.px(kPoolTitle);
  ImGui::InvisibleButton("map", {width, static_cast<float>(map_.rows) * row + static_cast<float>(map_.pools.size()) * title});
  const bool hovered = ImGui::IsItemHovered();
  const float y0 = ImGui::GetWindowPos().y, y1 = y0 + ImGui::GetWindowHeight();
  Painter p(*ImGui::GetWindowDrawList(), d.window.frame.scale);
  const OutOfMemory* oom = nullptr;
  for (const OutOfMemory& o : device.ooms)
    if (d.moment.event == o.event) oom = &o;
  auto box_at = map_.boxes.begin();
  for (std::size_t pool_at = 0; pool_at < map_.pools.size(); ++pool_at) {
    const MapPool& shown = map_.pools[pool_at];
    const SnapshotPool& pool = state.pools[shown.pool];
    const float top = at.y + static_cast<float>(shown.first_row) * row + static_cast<float>(pool_at) * title;
    std::string words =
        fmt::format("{} pool, stream {}{}{}: {} reserved, {} free, largest hole {}", pool.is_large ? "Large" : "Small",
                    pool.stream, pool.is_expandable ? ", expandable" : "",
                    pool.graph_pool == StringId(0) ? "" : ", graph " + printable(d.snapshot().texts[pool.graph_pool]),
                    bytes_text(pool.reserved), bytes_text(pool.free()), bytes_text(pool.largest_free));
    const bool asked = oom && oom->is_large == pool.is_large && oom->stream == pool.stream && pool.graph_pool == StringId(0);
    if (asked) words += fmt::format(", {} requested", bytes_text(oom->asked));
    p.text_in(Face::sans, {at.x, top, at.x + width, top + title}, colour(asked ? d.theme.costly : d.theme.muted), words);
    const std::uint32_t last = shown.first_row + shown.rows;
    for (; box_at != map_.boxes.end() && box_at->row < last; ++box_at) {
      const float y = top + title + static_cast<float>(box_at->row - shown.first_row) * row;
      const Box box{at.x + box_at->x0, y, at.x + box_at->x1, y + row - d.px(4)};
      if (box.y1 <= y0 || box.y0 >= y1) continue;
      const bool is_hole = box_at->held == MapBox::kHole;
      const HeldBlock* held = is_hole ? nullptr : &state.held[box_at->held];
      const auto place = [&] { return printable(holder_words(d.snapshot(), held->stack, is_unknown(*held))); };
      if (is_hole) {
        p.fill(box, colour(d.theme.raised));
        if (box.width() > 2) p.frame(box, colour(d.theme.line), p.hairline());
      } else {
        const Paint& paint = *map_paints_[static_cast<std::size_t>(box_at - map_.boxes.begin())];
        p.fill(box, colour(paint.fill));
        if (box.width() > 3) p.line_y(box.x1 - p.hairline(), box.y0, box.y1, colour(paint.edge));
        if (box.width() > p.px(60))
          p.text_in(Face::mono, {box.x0 + p.px(4), box.y0, box.x1 - p.px(2), box.y1}, colour(paint.text),
                    bytes_text(held->size) + "  " + place());
      }
      if (is_hole && box.width() > p.px(60))
        p.text_in(Face::mono, {box.x0 + p.px(4), box.y0, box.x1 - p.px(2), box.y1}, colour(d.theme.muted),
                  bytes_text(static_cast<std::int64_t>(box_at->end - box_at->begin)) + " free");
      if (!hovered || !box.holds(ImGui::GetIO().MousePos)) continue;
      p.frame(box, colour(d.theme.selection), p.px(2));
      const auto size = static_cast<std::int64_t>(box_at->end - box_at->begin);
      draw_tooltip({box.x0, box.y0}, {box.x1, box.y1},
                   is_hole ? fmt::format("{} free at 0x{:x}", bytes_text(size), box_at->begin)
                           : fmt::format("{}\n{} at 0x{:x}{}", place(), bytes_text(size), box_at->begin,
                                         box_at->blocks > 1 ? fmt::format(", in {} blocks", box_at->blocks) : ""));
      if (is_hole || !ImGui::IsMouseClicked(0)) continue;
      const std::uint32_t from = held->allocated_by == kBeforeHistory ? 0 : held->allocated_by;
      const auto& blocks = device.history.blocks();
      auto found = std::ranges::lower_bound(blocks, std::pair(from, held->address), {},
                                            [](const BlockLife& b) { return std::pair(b.from, b.address); });
      if (found != blocks.end() && found->address == held->address) block_ = static_cast<std::uint32_t>(found - blocks.begin());
    }
  }
  ImGui::EndChild();
}

void SnapshotPage::draw_growth(Drawing& d) {
  const OpenedDevice& device = d.device(device_);
  if (device.steps.ends.empty()) return draw_absence(d.window, "The history is too short to show growth from step to step.");
  if (device.leaks.empty())
    return draw_absence(d.window, device.steps.are_steps ? "No stack leaves more memory in every step."
                                                         : "No stack leaves more memory in every part of the history.");
  if (!begin_table("grows",
                   {"A step", "By now", "Blocks", device.steps.are_steps ? "Steps" : "Parts", "Stack, innermost first"}))
    return;
  ImGuiListClipper clipper;
  clipper.Begin(std::min(static_cast<int>(device.leaks.size()), kMostRows));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const SnapshotLeak& leak = device.leaks[static_cast<std::size_t>(i)];
      ImGui::TableNextRow();
      cell(Face::mono, d.theme.text, "+" + bytes_text(leak.bytes_per_step));
      cell(Face::mono, d.theme.text, bytes_text(leak.bytes));
      cell(Face::mono, d.theme.muted, count_text(leak.blocks));
      cell(Face::mono, d.theme.muted, fmt::format("{} of {}", leak.steps, leak.of_steps));
      std::string stack, hover;
      for (const std::uint32_t frame : d.snapshot().stack(leak.stack)) {
        if (!is_python_frame(d.snapshot(), frame) || stack.size() > 400) continue;
        stack += (stack.empty() ? "" : " < ") + place_words(d.snapshot(), frame);
        hover += printable(d.snapshot().texts[d.snapshot().frames[frame].file]) +
                 fmt::format(":{}\n", d.snapshot().frames[frame].line);
      }
      cell(Face::mono, d.theme.text, printable(stack.empty() ? holder_words(d.snapshot(), leak.stack, false) : stack));
      draw_hover(hover);
    }
  ImGui::EndTable();
}

void SnapshotPage::draw_comparison(Drawing& d) {
  const SnapshotComparison& c = *d.opened.comparison;
  const std::int64_t more = difference_saturating(c.after, c.before);
  draw_text(Face::bold, d.theme.text,
            fmt::format("{}{} since {} ({} to {}), when the snapshots were taken.", more < 0 ? "" : "+", bytes_text(more),
                        printable(c.path.substr(c.path.rfind('/') + 1)), bytes_text(c.before), bytes_text(c.after)));
  if (c.lines.empty()) return draw_absence(d.window, "Every line has the same memory in both snapshots.");
  if (!begin_table("changes", {"Difference", "Before", "After", "Blocks", "Line"})) return;
  ImGuiListClipper clipper;
  clipper.Begin(std::min(static_cast<int>(c.lines.size()), kMostRows));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const HolderChange& change = c.lines[static_cast<std::size_t>(i)];
      ImGui::TableNextRow();
      const std::int64_t by = change.difference();
      cell(Face::mono, by > 0 ? d.theme.notable : d.theme.good, (by > 0 ? "+" : "") + bytes_text(by));
      cell(Face::mono, d.theme.muted, bytes_text(change.before));
      cell(Face::mono, d.theme.muted, bytes_text(change.after));
      cell(Face::mono, d.theme.muted,
           fmt::format("{} to {}", count_text(change.blocks_before), count_text(change.blocks_after)));
      cell(Face::mono, d.theme.text, printable(change.place));
    }
  ImGui::EndTable();
}

}  // namespace gapscope
