// The tab "SQL": a query at the left, its rows at the right. Over core/view/sql/sql_model.h.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/sql/database.h"
#include "core/sql/virtual_table.h"
#include "core/view/document.h"
#include "core/view/ranks/ranks_model.h"
#include "core/view/sql/sql_examples.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/sql/sql_editor.h"
#include "ui/widgets/charts.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/grid.h"
#include "ui/widgets/row_menu.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kEditorShare = 0.42f;  // of the panel's width
constexpr std::size_t kMostColumnChars = 60, kLeastWordsChars = 16;
constexpr std::size_t kLongestEntry = 70;  // of a query in a menu

struct SqlPanel : PanelOf<SqlState> {
  const std::shared_ptr<const SqlAnswer>& answer() const { return answer_to<SqlQuestion>(document); }
};

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n;") == std::string::npos; }

// The run that the trace is a rank of, once the tab "Ranks" has read it.
std::shared_ptr<const RunReport> ranks_of(const SqlPanel& panel) {
  const std::shared_ptr<const RanksAnswer>& last = panel.window.ranks.last;
  if (!last) return nullptr;
  const std::vector<RankData>& ranks = last->report.run.ranks;
  const bool is_one =
      std::any_of(ranks.begin(), ranks.end(), [&](const RankData& rank) { return rank.file == panel.document.trace.path; });
  return is_one ? std::shared_ptr<const RunReport>(last, &last->report) : nullptr;
}

// What is running, or has run: nothing before the first time, but for the words to complete.
void ask_for_rows(SqlPanel& panel) {
  const std::optional<SqlQuestion>& last = asked<SqlQuestion>(panel.document).question;
  if (!last) return ask(panel.document, SqlQuestion{"", panel.state.runs}, panel.out);
  if (!std::exchange(panel.state.wants_run, false) || is_blank(panel.state.text)) return;
  remember_query(panel.state.recent, panel.state.text);
  panel.out.add(KeepQueries{panel.state.recent, panel.state.saved});
  panel.state.selected = -1;
  ask(panel.document,
      SqlQuestion{panel.state.text, ++panel.state.runs, panel.answer() ? panel.answer()->database : nullptr, ranks_of(panel)},
      panel.out);
}

bool is_running(const SqlPanel& panel) {
  return !panel.answer() || asked<SqlQuestion>(panel.document).question != panel.answer()->question;
}

void put(SqlState& state, const std::string& query, std::size_t caret = std::string::npos) {
  state.text = query;
  state.caret = std::min(caret, query.size());
  state.replaced = state.has_keys;  // else the field takes it over by itself
}

// From a menu: what is typed next continues from there.
void put_and_go_on(SqlState& state, const std::string& query, std::size_t caret = std::string::npos) {
  put(state, query, caret);
  give_keys_to_sql_editor();
}

std::string entry_of(const std::string& query) {
  std::string line = query.substr(0, kLongestEntry);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return query.size() > kLongestEntry ? line + "..." : line;
}

void draw_queries_menu(const char* title, const std::vector<std::string>& queries, SqlPanel& panel) {
  ImGui::BeginDisabled(queries.empty());
  if (ImGui::Button(title)) ImGui::OpenPopup(title);
  ImGui::EndDisabled();
  if (!ImGui::BeginPopup(title)) return;
  std::optional<std::string> chosen;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::Selectable(printable(entry_of(queries[i])).c_str())) chosen = queries[i];
    draw_hover(printable(queries[i]));
    ImGui::PopID();
  }
  ImGui::EndPopup();
  if (chosen) put_and_go_on(panel.state, *chosen);
}

void draw_examples_menu(SqlPanel& panel) {
  if (ImGui::Button("Examples")) ImGui::OpenPopup("examples");
  if (!ImGui::BeginPopup("examples")) return;
  for (const SqlExample& example : sql_examples()) {
    if (ImGui::Selectable(example.title)) {
      put(panel.state, example.query);
      panel.state.wants_run = true;
    }
    draw_hover(example.explanation);
  }
  ImGui::EndPopup();
}

// At the caret, as a word of its own.
void insert_word(SqlState& state, const std::string& word) {
  std::string text = state.text;
  const std::size_t at = std::min(state.caret, text.size());
  const bool behind = at > 0 && std::isspace(static_cast<unsigned char>(text[at - 1])) == 0 && text[at - 1] != '(';
  const bool before = at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) == 0 && text[at] != ',';
  const std::string put_in = (behind ? " " : "") + word + (before ? " " : "");
  text.insert(at, put_in);
  put_and_go_on(state, text, at + put_in.size());
}

void draw_table_menu(SqlPanel& panel, const sql::Table& table) {
  const auto columns = table.columns();
  if (!columns.empty() && columns.back().name == std::string_view("start_id")) return;  // a function
  const bool open = ImGui::BeginMenu(printable(table.name()).c_str());
  draw_hover(table.meaning());
  if (!open) return;
  if (ImGui::Selectable("Show 100 rows")) {
    put(panel.state, fmt::format("select *\nfrom {}\nlimit 100", table.name()));
    panel.state.wants_run = true;
  }
  ImGui::Separator();
  for (const sql::ColumnInfo& column : columns) {
    if (column.hidden) continue;
    const std::string unit = *column.unit != '\0' ? fmt::format("  ({})", column.unit) : "";
    if (ImGui::Selectable((printable(column.name) + unit).c_str())) insert_word(panel.state, column.name);
    if (*column.meaning != '\0') draw_hover(column.meaning);
  }
  ImGui::EndMenu();
}

// What can be asked for: a menu a table, an entry a column with its unit. A file's own tables are a menu of their own.
void draw_tables_menu(SqlPanel& panel) {
  const std::shared_ptr<const SqlAnswer>& answer = panel.answer();
  ImGui::BeginDisabled(!answer);
  if (ImGui::Button("Tables")) ImGui::OpenPopup("tables");
  ImGui::EndDisabled();
  draw_hover("All tables with their columns. A click on a column adds it to the query.");
  if (!answer || !ImGui::BeginPopup("tables")) return;
  const std::span<const sql::Table* const> all = answer->tables;
  const std::size_t own = std::min(all.size(), answer->database->tables().size());
  for (const sql::Table* table : all.first(own)) draw_table_menu(panel, *table);
  if (own < all.size() && ImGui::BeginMenu("nsys")) {
    for (const sql::Table* table : all.subspan(own)) draw_table_menu(panel, *table);
    ImGui::EndMenu();
  }
  ImGui::EndPopup();
}

void draw_save(SqlPanel& panel) {
  std::vector<std::string>& saved = panel.state.saved;
  const bool kept = std::find(saved.begin(), saved.end(), panel.state.text) != saved.end();
  ImGui::BeginDisabled(is_blank(panel.state.text));
  if (ImGui::Button(kept ? "Unsave" : "Save")) {
    if (kept)
      std::erase(saved, panel.state.text);
    else
      remember_query(saved, panel.state.text);
    panel.out.add(KeepQueries{panel.state.recent, saved});
  }
  ImGui::EndDisabled();
  draw_hover("Save this query, for all traces.");
}

// Alongside the last button where it fits there, else below.
void place_button(const char* title) {
  ImGui::SameLine();
  if (ImGui::GetContentRegionAvail().x < ImGui::CalcTextSize(title).x + ImGui::GetStyle().FramePadding.x * 2) ImGui::NewLine();
}

// A click on nothing, in this window, means the field.
void take_click_on_nothing() {
  if (ImGui::IsWindowHovered() && !ImGui::IsAnyItemHovered() && ImGui::IsMouseClicked(0)) give_keys_to_sql_editor();
}

void draw_left(SqlPanel& panel) {
  const bool running = is_running(panel);
  if (ImGui::Button(running ? "Running" : "Run")) panel.state.wants_run = true;
  draw_hover("Run the query (Ctrl+Enter, F5). A new run stops the current one.");
  place_button("Examples");
  draw_examples_menu(panel);
  place_button("Tables");
  draw_tables_menu(panel);
  place_button("Recent");
  draw_queries_menu("Recent", panel.state.recent, panel);
  place_button("Saved");
  draw_queries_menu("Saved", panel.state.saved, panel);
  place_button("Unsave");
  draw_save(panel);
  if (draw_sql_editor(panel.state, panel.answer().get(), ImGui::GetContentRegionAvail().y - ImGui::GetTextLineHeight(),
                      panel.window))
    panel.state.wants_run = true;
}

// A row leads to its place in the trace.
void choose(SqlPanel& panel, std::uint32_t row) {
  panel.state.selected = row;
  const std::optional<ListPlace> place = panel.answer()->place(panel.document, row);
  if (!place) return;
  if (place->slice) return select_slice(panel.view, place->slice, /*reveal=*/true);
  panel.view.range = place->span;
  go_to(panel.view, panel.window, focused_on(place->span, axis_reach(panel.view, panel.document.trace.span)));
}

// How many letters of words a column shows, so that all columns stand side by side in `width` px where that can be.
std::size_t most_words_chars(const SqlAnswer& answer, float width) {
  const float digit = text_width(Face::mono, "0"), padding = 2 * ImGui::GetStyle().CellPadding.x;
  const auto needed = [&](std::size_t most) {
    float sum = ImGui::GetStyle().ScrollbarSize;
    for (const auto& facts : answer.facts)
      sum += static_cast<float>(std::min(facts.numeric ? kMostColumnChars : most, facts.chars) + 2) * digit + padding;
    return sum;
  };
  std::size_t most = kMostColumnChars;
  while (most > kLeastWordsChars && needed(most) > width) --most;
  return most;
}

std::vector<GridColumn> columns_of(const SqlAnswer& answer, float width) {
  const std::size_t most_words = most_words_chars(answer, width);
  std::vector<GridColumn> columns;
  for (std::size_t c = 0; c < answer.columns.size(); ++c) {
    GridColumn column{answer.columns[c].c_str(), ""};
    const std::size_t most = answer.facts[c].numeric ? kMostColumnChars : most_words;
    column.chars = static_cast<float>(std::min(most, answer.facts[c].chars) + 2);
    column.number = answer.facts[c].numeric;
    column.unit_chars = 0;
    columns.push_back(column);
  }
  return columns;
}

void arrange(SqlState& state, const std::shared_ptr<const SqlAnswer>& answer) {
  SqlState::Arranged& made = state.arranged;
  if (made.of == answer) return;
  made = {answer, std::nullopt, false, arrange_sql(*answer, answer->columns.size(), false)};
  state.chart_x = 0;
  state.chart_y = answer->columns.size() > 1 ? 1 : 0;
}

void sort_by(SqlState& state, std::size_t column) {
  SqlState::Arranged& made = state.arranged;
  made.descending = made.column == column ? !made.descending : made.of->facts[column].numeric;
  made.column = column;
  made.rows = arrange_sql(*made.of, column, made.descending);
}

void draw_rows(SqlPanel& panel) {
  SqlState::Arranged& made = panel.state.arranged;
  const SqlAnswer& answer = *made.of;
  Grid grid;
  grid.id = "rows";
  const std::vector<GridColumn> columns = columns_of(answer, ImGui::GetContentRegionAvail().x);
  grid.columns = columns;
  grid.rows = made.rows.size();
  grid.sorted_by = made.column.value_or(answer.columns.size());
  grid.descending = made.descending;
  for (std::size_t i = 0; i < made.rows.size() && panel.state.selected >= 0; ++i)
    if (made.rows[i] == panel.state.selected) grid.selected = static_cast<std::int64_t>(i);
  grid.cell = [&](std::size_t row, std::size_t column) {
    const std::string text = printable(answer.text(made.rows[row], column));
    const bool null = std::holds_alternative<std::monostate>(answer.value(made.rows[row], column));
    return GridCell{text, text.size() > kLeastWordsChars ? text : "", 0, null};
  };
  const GridClick click = draw_grid(grid, panel.window);
  if (click.row >= 0) choose(panel, made.rows[static_cast<std::size_t>(click.row)]);
  if (const std::optional<std::size_t> at = draw_row_menu_for(click, grid.rows)) {
    if (const std::optional<ListPlace> place = answer.place(panel.document, made.rows[*at]))
      draw_place_menu(*place, panel.document, panel.view, panel.window, panel.out);
  }
  if (click.header >= 0) sort_by(panel.state, static_cast<std::size_t>(click.header));
}

void choose_column(const char* id, const SqlAnswer& answer, std::size_t& column) {
  ImGui::SetNextItemWidth(ImGui::GetFontSize() * 9);
  if (!ImGui::BeginCombo(id, column < answer.columns.size() ? printable(answer.columns[column]).c_str() : "")) return;
  for (std::size_t c = 0; c < answer.columns.size(); ++c)
    if (answer.facts[c].numeric && ImGui::Selectable(printable(answer.columns[c]).c_str(), c == column)) column = c;
  ImGui::EndCombo();
}

// One column over another one, a dot a row. What is no number has none.
void draw_chart(SqlPanel& panel) {
  const SqlAnswer& answer = *panel.state.arranged.of;
  SqlState& state = panel.state;
  choose_column("over##y", answer, state.chart_y);
  ImGui::SameLine();
  choose_column("##x", answer, state.chart_x);
  std::vector<ChartPoint> points;
  for (std::size_t row = 0; row < answer.rows(); ++row) {
    const auto x = answer.number(row, state.chart_x), y = answer.number(row, state.chart_y);
    if (x && y && std::abs(*x) < 9e18) points.push_back({static_cast<Ns>(*x), *y});
  }
  if (points.empty()) return draw_absence(panel.window, "Choose two numeric columns.");
  std::stable_sort(points.begin(), points.end(), [](const ChartPoint& a, const ChartPoint& b) { return a.time < b.time; });
  double most = 0;
  for (const ChartPoint& p : points) most = std::max(most, p.value);
  const Span span{points.front().time, std::max(points.back().time, points.front().time + 1)};
  const ImVec2 room = ImGui::GetContentRegionAvail();
  draw_dots(
      {"chart",
       {room.x, std::max(60.0f, room.y - 2 * ImGui::GetTextLineHeight())},
       answer.columns[state.chart_y],
       std::to_string(span.begin),
       std::to_string(points.back().time)},
      points.size(), span, most, [&](std::size_t i) { return points[i]; }, std::nullopt, panel.window);
}

std::string summary_of(const SqlAnswer& answer) {
  const auto rows = static_cast<std::int64_t>(answer.rows());
  const std::string took = format_duration(static_cast<Ns>(answer.seconds * 1e9));
  if (answer.cut)
    return fmt::format("The first {} rows, in {}. There are more: add a LIMIT or a condition.", format_count(rows), took);
  return fmt::format("{} {} in {}", format_count(rows), rows == 1 ? "row" : "rows", took);
}

void draw_right(SqlPanel& panel) {
  if (draw_trouble<SqlQuestion>(panel.document, panel.window)) return;
  const std::shared_ptr<const SqlAnswer> answer = panel.answer();
  if (!answer) return draw_absence(panel.window, "Preparing...");
  arrange(panel.state, answer);
  if (is_running(panel)) draw_text(Face::sans, panel.theme.muted, "Running...");
  if (!answer->error.empty()) draw_text(Face::sans, panel.theme.notable, printable(answer->error), /*wrap=*/true);
  if (answer->columns.empty() && answer->error.empty())
    return draw_absence(panel.window, answer->question.text.empty()
                                          ? "Type a query or choose an example. Times are in nanoseconds. A click on a row "
                                            "with an id, or with ts and dur, shows its place in the timeline."
                                          : "Done. The statement returns no rows.");
  if (answer->columns.empty()) return;
  draw_text(Face::sans, panel.theme.muted, summary_of(*answer));
  ImGui::SameLine();
  draw_checkbox("chart", &panel.state.chart);
  draw_hover("Plot one column over another.");
  ImGui::SameLine();
  draw_csv_buttons(
      ".query.csv", [&] { return sql_csv(*answer); }, panel.out);
  if (panel.state.chart)
    draw_chart(panel);
  else
    draw_rows(panel);
}

}  // namespace

void draw_sql(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (draw_part_note(document, window, "queries are answered")) return;
  SqlPanel panel{{document, view, window, out, window.sql}};
  ask_for_rows(panel);
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::BeginChild("query", {std::floor(width * kEditorShare), 0});
  draw_left(panel);
  if (ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows)) point_at_sql_editor();
  take_click_on_nothing();
  ImGui::EndChild();
  ImGui::SameLine();
  ImGui::BeginChild("result");
  draw_right(panel);
  if (!panel.answer() || panel.answer()->columns.empty()) take_click_on_nothing();
  ImGui::EndChild();
}

void open_as_sql(WindowState& window, const char* query) {
  put(window.sql, query);
  window.sql.wants_run = true;
  show_panel(window, "sql");
}

}  // namespace gapscope
