// The tab "Ranks": the run in a sentence, ranks by steps as a coloured matrix, each rank's figures, what was found. Over
// core/view/ranks/ranks_model.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/ranks/rank_bands.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/ranks/ranks_panel.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kMatrixShare = 0.5f, kBandsShare = 0.6f;                     // of the panel's width
constexpr float kLeastRow = 2, kMostRow = 22, kTitle = 64, kMostStep = 120;  // px at scale 1
constexpr float kLeastWords = 200;  // px at scale 1 alongside the bands, for the findings and the table
constexpr double kLeastAlpha = 0.06;
constexpr std::size_t kLeastRanks = 4;  // rows of the table in sight, however much there is to say
constexpr float kTableRow = 22;

constexpr RowOrder kLatestFirst{static_cast<std::size_t>(RanksColumn::cost), true};

constexpr std::array<Choice, 4> kPictures = {{
    {"Bands", "The GPU of each rank on one axis, under the lanes of the open one."},
    {"Step time", "The time of each step on each rank."},
    {"Exposed communication", "The time that each rank communicated, or waited to, without computing."},
    {"Made others wait", "The total time that other ranks waited for this rank, with or without computing meanwhile."},
}};

std::vector<std::string> paths_of(const Document& document, const RanksState& state) {
  if (!state.paths.empty()) return state.paths;
  return {std::filesystem::path(document.trace.path).parent_path().string()};
}

void show_step(const RanksPanel& panel, const std::string& name) {
  for (std::size_t r = 0; r < panel.answer.report.run.ranks.size(); ++r) {
    if (!is_open(panel, r)) continue;
    for (std::size_t s = 0; s < panel.answer.matrix.steps.size(); ++s) {
      const RankMatrix::Cell& cell = panel.answer.matrix.at(r, s);
      if (!cell.there || panel.answer.matrix.steps[s] != name) continue;
      panel.view.range = cell.span;
      go_to(panel.view, panel.window, focused_on(cell.span, axis_reach(panel.view, panel.document.trace.span)));
    }
  }
}

// That rank's file, at that step.
void open_cell(RanksPanel& panel, std::size_t rank, std::size_t step) {
  const std::string& name = panel.answer.matrix.steps[step];
  if (is_open(panel, rank)) return show_step(panel, name);
  panel.state.go_to = {panel.answer.report.run.ranks[rank].file, name, {}};
  panel.out.add(OpenFile{panel.state.go_to->file});
}

void draw_cell(const RanksPanel& panel, Painter& p, const Box& box, const RankMatrix::Cell& cell, Ns most) {
  if (!cell.there) return p.frame(box, colour(panel.theme.line), p.hairline());
  const double share = most > 0 ? static_cast<double>(figure_of(cell, panel.state.figure)) / static_cast<double>(most) : 0;
  p.fill(box, colour(panel.state.figure == RankFigure::time ? panel.theme.accent : panel.theme.costly,
                     static_cast<float>(std::max(kLeastAlpha, share))));
}

// Above the columns, where they are wide enough for it: the number of "ProfilerStep#5", or the whole name.
void draw_step_names(const RanksPanel& panel, Painter& p, ImVec2 at, float column) {
  for (std::size_t s = 0; s < panel.answer.matrix.steps.size(); ++s) {
    std::string name = printable(panel.answer.matrix.steps[s]);
    if (p.text_width(Face::sans, name) > column && name.starts_with("ProfilerStep#")) name = name.substr(12);
    if (p.text_width(Face::sans, name) > column) continue;
    const float x = at.x + static_cast<float>(s) * column;
    p.text_in(Face::sans, {x, at.y, x + column, at.y + ImGui::GetFontSize()}, colour(panel.theme.muted), name);
  }
}

bool is_late(const RanksPanel& panel, std::uint32_t rank) {
  const std::vector<RunFinding>& findings = panel.answer.report.findings;
  return std::any_of(findings.begin(), findings.end(), [&](const RunFinding& f) {
    return f.kind == RunFindingKind::straggler && f.rank == panel.answer.report.run.ranks[rank].rank;
  });
}

// Which rows have room for their rank's name: late ones first, and of the others every so many.
std::vector<bool> named_rows(const RanksPanel& panel, const std::vector<std::uint32_t>& order, float row) {
  const auto apart = std::max<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(std::ceil(ImGui::GetFontSize() / row)));
  const auto count = static_cast<std::ptrdiff_t>(order.size());
  std::vector<bool> taken(order.size()), named(order.size());
  const auto name = [&](std::ptrdiff_t i) {
    if (taken[static_cast<std::size_t>(i)]) return;
    named[static_cast<std::size_t>(i)] = true;
    for (std::ptrdiff_t n = std::max<std::ptrdiff_t>(0, i - apart + 1); n < std::min(count, i + apart); ++n)
      taken[static_cast<std::size_t>(n)] = true;
  };
  for (std::ptrdiff_t i = 0; i < count; ++i)
    if (is_late(panel, order[static_cast<std::size_t>(i)])) name(i);
  for (std::ptrdiff_t i = 0; i < count; ++i) name(i);
  return named;
}

void draw_matrix(RanksPanel& panel) {
  const RankMatrix& matrix = panel.answer.matrix;
  const std::vector<std::uint32_t> order = order_of_ranks(panel.answer.report, panel.state.by_lateness);
  if (matrix.steps.empty()) return draw_absence(panel.window, "These recordings have no marked steps: call profiler.step().");
  ImGui::BeginChild("matrix");
  Painter p(*ImGui::GetWindowDrawList(), panel.window.frame.scale);
  const float head = std::round(ImGui::GetFontSize() * 1.3f);
  const ImVec2 room{ImGui::GetContentRegionAvail().x, ImGui::GetContentRegionAvail().y - head};
  const ImVec2 top = ImGui::GetCursorScreenPos(), at{top.x, top.y + head};
  const auto rows = static_cast<float>(order.size()), columns = static_cast<float>(matrix.steps.size());
  const float row = std::clamp(std::floor(room.y / std::max(1.0f, rows)), p.px(kLeastRow), p.px(kMostRow));
  const float title = p.px(kTitle);
  const float column = std::min(p.px(kMostStep), std::max(1.0f, std::floor((room.x - title) / std::max(1.0f, columns))));
  draw_step_names(panel, p, {at.x + title, top.y}, column);
  const std::vector<bool> named = named_rows(panel, order, row);
  const Ns most = most_of(matrix, panel.state.figure);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool hovered = ImGui::IsWindowHovered();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const float y = at.y + static_cast<float>(i) * row;
    const std::uint32_t rank = order[i];
    if (named[i])
      p.text_in(Face::sans, {at.x, y, at.x + title, y + std::max(row, ImGui::GetFontSize())},
                colour(is_late(panel, rank)   ? panel.theme.costly
                       : is_open(panel, rank) ? panel.theme.text
                                              : panel.theme.muted),
                fmt::format("rank {}", panel.answer.report.run.ranks[rank].rank));
    for (std::size_t s = 0; s < matrix.steps.size(); ++s) {
      const float x = at.x + title + static_cast<float>(s) * column;
      const float gap = column > 3 ? p.hairline() : 0;
      const Box box{x, y, x + column - gap, y + row - (row > 3 ? p.hairline() : 0)};
      draw_cell(panel, p, box, matrix.at(rank, s), most);
      if (!hovered || !box.holds(mouse)) continue;
      p.frame(box, colour(panel.theme.text), p.hairline());
      draw_tooltip({box.x0, box.y0}, {box.x1, box.y1}, cell_text(panel.answer, rank, s) + "\nClick: show this rank there.");
      if (ImGui::IsMouseClicked(0)) open_cell(panel, rank, s);
    }
  }
  ImGui::Dummy({title + columns * column, head + rows * row});
  ImGui::EndChild();
}

void draw_ranks_table(RanksPanel& panel) {
  RowOrder& order = panel.state.order;
  TableLook look{{}, order};
  const std::unique_ptr<TableRows> table = rank_rows(panel.answer.report);
  const std::vector<std::uint32_t> rows = arrange(*table, look);
  draw_csv_buttons(
      ".ranks.csv", [&] { return csv_of(*table, rows); }, panel.out);
  ColumnGrid grid{"ranks", *table, rows, look};
  for (const std::uint32_t rank : rows)
    if (is_open(panel, rank)) grid.selected = rank;
  const GridClick click = draw_column_grid(grid, panel.window);
  if (click.header >= 0) {
    order = *look.order;
    panel.state.by_lateness = order == kLatestFirst;
  }
  if (click.row < 0) return;
  const std::uint32_t rank = rows[static_cast<std::size_t>(click.row)];
  if (!is_open(panel, rank)) panel.out.add(OpenFile{panel.answer.report.run.ranks[rank].file});
}

// Several on hover, so that they leave room for the ranks; also one that is higher than `room` px: the beginning of a sentence
// can say the opposite of all of it.
void draw_problems(const RanksPanel& panel, float room) {
  const std::vector<std::string>& problems = panel.answer.report.run.problems;
  if (problems.empty()) return;
  const float width = ImGui::GetContentRegionAvail().x;
  if (const std::string first = printable(problems.front());
      problems.size() == 1 && ImGui::CalcTextSize(first.c_str(), nullptr, false, width).y <= room)
    return draw_text(Face::sans, panel.theme.notable, first, /*wrap=*/true);
  std::string all;
  for (const std::string& problem : problems) all += (all.empty() ? "" : "\n") + printable(problem);
  draw_text(Face::sans, panel.theme.notable,
            fmt::format("{} note{} on the files that were read", problems.size(), problems.size() == 1 ? "" : "s"),
            /*wrap=*/true);
  draw_hover(all);
}

// `room`: px of height that there are for them.
void draw_words(RanksPanel& panel, bool with_sentence, float room) {
  const float top = ImGui::GetCursorPosY();
  if (with_sentence) draw_text(Face::bold, panel.theme.text, printable(panel.answer.sentence), /*wrap=*/true);
  bool told = false;  // the first straggler is what the sentence is about
  for (const RunFinding& finding : panel.answer.report.findings) {
    if (finding.kind == RunFindingKind::straggler && !std::exchange(told, true)) continue;
    ImGui::Bullet();
    draw_text(Face::sans, panel.theme.text, printable(finding.text), /*wrap=*/true);
  }
  draw_problems(panel, room - (ImGui::GetCursorPosY() - top));
}

// Px of the display for the buttons, the header and a few ranks.
float least_table(const RanksPanel& panel) {
  const std::size_t rows = std::min(kLeastRanks, panel.answer.report.run.ranks.size());
  return static_cast<float>(rows + 1) * kTableRow * panel.window.frame.scale + 2 * ImGui::GetFrameHeightWithSpacing();
}

// As high as they are, but for `most` px: then they scroll.
void draw_words_above(RanksPanel& panel, bool with_sentence, float most) {
  float& needed = *ImGui::GetStateStorage()->GetFloatRef(ImGui::GetID("height of the words"), 0);
  const float least = with_sentence ? 2 * ImGui::GetTextLineHeightWithSpacing() : 0;
  const float height = std::max(least, std::min(needed > 0 ? needed : most, most));
  if (height < 1) return;
  ImGui::BeginChild("words", {0, height});
  draw_words(panel, with_sentence, most);
  needed = ImGui::GetCursorPosY() + ImGui::GetStyle().ItemSpacing.y;
  ImGui::EndChild();
}

void draw_choices(RanksPanel& panel) {
  RanksState& state = panel.state;
  const bool bands = state.picture == RanksPicture::bands;
  const std::size_t now = bands ? 0 : 1 + static_cast<std::size_t>(state.figure);
  const std::size_t chosen = draw_choice("picture", kPictures, now, panel.window);
  state.picture = chosen == 0 ? RanksPicture::bands : RanksPicture::matrix;
  if (chosen > 0) state.figure = static_cast<RankFigure>(chosen - 1);
  ImGui::SameLine();
  if (draw_checkbox("latest first", &state.by_lateness)) state.order = state.by_lateness ? kLatestFirst : RowOrder{};
  draw_hover("The rank that the others waited for longest comes first.");
}

void read_run(RanksPanel& panel, std::vector<std::string> paths) {
  panel.state.paths = std::move(paths);
  panel.state.wanted = true;
}

// Of a folder with several recordings: that this is one of them, and the way to the others, and from one of these back.
void draw_recordings(RanksPanel& panel) {
  const Run& run = panel.answer.report.run;
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  if (run.others.empty()) {
    const std::vector<std::string>& paths = panel.state.paths;
    const bool of_files = !paths.empty() && std::any_of(run.ranks.begin(), run.ranks.end(),
                                                        [&](const RankData& rank) { return rank.file == paths.front(); });
    if (!of_files) return;
    go_on(text_width(Face::sans, "Whole folder") + 2 * ImGui::GetStyle().FramePadding.x, gap);
    if (ImGui::SmallButton("Whole folder"))
      read_run(panel, {std::filesystem::path(panel.document.trace.path).parent_path().string()});
    return draw_hover("Only these files were read as a run. Read their whole folder.");
  }
  const std::string words = fmt::format("one of {} recordings in this folder", run.others.size() + 1);
  const float width = text_width(Face::sans, words) + ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().FramePadding.x;
  go_on(width, gap);
  ImGui::SetNextItemWidth(width);
  ImGui::PushStyleColor(ImGuiCol_Text, colour(panel.theme.notable));
  const bool open = ImGui::BeginCombo("##recordings", words.c_str());
  ImGui::PopStyleColor();
  if (!open) return draw_hover("The one with the most ranks is shown. Choose another.");
  for (const std::vector<std::string>& files : run.others) {
    const std::string name = printable(std::filesystem::path(files.front()).filename().string());
    if (!ImGui::Selectable(fmt::format("{}, {}", name, counted(files.size(), "file")).c_str())) continue;
    read_run(panel, files);
    panel.out.add(OpenFile{files.front()});
  }
  ImGui::EndCombo();
}

// The axis goes as far as all ranks do, so that none of the bands is cut off at its ends.
void reach_all_ranks(RanksPanel& panel) {
  const std::vector<RankData>& ranks = panel.answer.report.run.ranks;
  for (std::uint32_t r = 0; r < ranks.size(); ++r)
    if (is_open(panel, r)) panel.view.run_reach = hull(panel.document.trace.span, reach_of_run(panel.answer.report, r));
}

// Where a click in the bands or the matrix led to.
void arrive(RanksPanel& panel) {
  if (!panel.state.go_to || panel.state.go_to->file != panel.document.trace.path) return;
  const RanksState::Place place = *std::exchange(panel.state.go_to, std::nullopt);
  if (!place.time) return show_step(panel, place.step);
  const Span reach = axis_reach(panel.view, panel.document.trace.span);
  go_to(panel.view, panel.window, within_limits(TimeView{*place.time, 0, 0}, reach));
}

// The bands end where the lanes do; alongside them, under the findings, is room for words, or else they stand above.
float left_width(const RanksPanel& panel) {
  const float room = ImGui::GetContentRegionAvail().x;
  if (panel.state.picture == RanksPicture::matrix) return std::floor(room * kMatrixShare);
  const float lanes = panel.state.lanes_x1 - ImGui::GetCursorScreenPos().x;
  return lanes > 0 ? std::min(room, lanes) : std::floor(room * kBandsShare);
}

// Whether all of it is above the table in a column so wide.
bool sentence_fits(const RanksPanel& panel, float width) {
  push_face(Face::bold);
  const float needed = ImGui::CalcTextSize(printable(panel.answer.sentence).c_str(), nullptr, false, width).y;
  pop_face();
  return needed <= ImGui::GetContentRegionAvail().y - least_table(panel);
}

void draw_run(RanksPanel& panel) {
  draw_choices(panel);
  draw_recordings(panel);
  if (panel.state.picture == RanksPicture::bands) draw_band_legend(panel);  // as much as there is room for
  reach_all_ranks(panel);
  arrive(panel);
  const float left = left_width(panel), gap = ImGui::GetStyle().ItemSpacing.x;
  const float right = ImGui::GetContentRegionAvail().x - left - gap;
  const bool beside = right >= kLeastWords * panel.window.frame.scale;
  const bool is_said = is_inspector_shown(panel.window) && !run_sentence(panel.state, panel.document.trace.path).empty();
  const bool above = !is_said && (!beside || !sentence_fits(panel, right));
  if (above) draw_text(Face::bold, panel.theme.text, printable(panel.answer.sentence), /*wrap=*/true);
  const float x1 = ImGui::GetCursorScreenPos().x + left;
  ImGui::BeginChild("left", {left, 0});
  if (panel.state.picture == RanksPicture::bands)
    draw_rank_bands(panel, x1);
  else
    draw_matrix(panel);
  ImGui::EndChild();
  if (!beside) return;
  ImGui::SameLine();
  ImGui::BeginChild("right");
  draw_words_above(panel, !above && !is_said, ImGui::GetContentRegionAvail().y - least_table(panel));
  draw_ranks_table(panel);
  ImGui::EndChild();
}

// Of a folder that was not asked for: what may be there.
void draw_offer(const Document& document, WindowState& window) {
  const std::string folder = printable(paths_of(document, window.ranks).front());
  draw_absence(window,
               "Each rank of a distributed run writes its own trace. Gapscope aligns their clocks by their collectives, and "
               "shows which rank waits for which.");
  if (ImGui::Button("Read the ranks in this folder")) window.ranks.wanted = true;
  draw_hover("Every trace in " + folder + " is read. Traces of other runs are listed and left out.");
}

}  // namespace

bool is_open(const RanksPanel& panel, std::size_t rank) {
  return panel.answer.report.run.ranks[rank].file == panel.document.trace.path;
}

void ask_for_run(const Document& document, RanksState& ranks, Requests& out) {
  if (!ranks.wanted || ranks.paths.empty()) return;
  const RanksQuestion wanted{ranks.paths};
  ask(document, wanted, out);
  if (const auto fresh = answer_to<RanksQuestion>(document); fresh && fresh->question == wanted)
    ranks.last = fresh, ranks.wanted = false;
}

bool knows_ranks(const Document& document, const RanksState& state) {
  return state.last && state.last->question == RanksQuestion{paths_of(document, state)};
}

void draw_ranks(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (draw_part_note(document, window, "the ranks follow")) return;
  RanksState& state = window.ranks;
  const RanksQuestion question{paths_of(document, state)};
  const bool known = knows_ranks(document, state);
  if (!known && !state.wanted) return draw_offer(document, window);
  if (!known) ask(document, question, out);
  if (draw_trouble<RanksQuestion>(document, window)) return;
  if (const auto& fresh = answer_to<RanksQuestion>(document); fresh && fresh->question == question) {
    state.last = fresh;
    state.wanted = false;
  }
  if (!state.last || state.last->question != question) return draw_absence(window, "Reading the ranks...");
  RanksPanel panel{{document, view, window, out, state}, *state.last};
  if (panel.answer.report.run.ranks.empty()) {
    draw_absence(window, "No rank could be read.");
    return draw_words(panel, /*with_sentence=*/true, ImGui::GetContentRegionAvail().y);
  }
  draw_run(panel);
}

}  // namespace gapscope
