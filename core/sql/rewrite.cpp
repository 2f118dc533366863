#include "core/sql/rewrite.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/sql/slice_table.h"
#include "core/sql/tokens.h"

namespace gapscope::sql {
namespace {

using Tokens = std::vector<Token>;

// One SELECT and what belongs to it alone.
struct Scope {
  std::vector<std::string> slices;  // names that `slice` goes by here
  bool only_slice = false;          // `slice` is all of its FROM
};

bool is_name(const Token& t) { return t.kind == Token::Kind::word || t.kind == Token::Kind::quoted_name; }
bool ends_from(const Token& t) {
  constexpr const char* kWords[] = {"where", "group", "order", "limit", "having", "window", "union", "intersect", "except"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](const char* word) { return is_word(t, word); });
}
bool is_join_word(const Token& t) {
  constexpr const char* kWords[] = {"join",  "on",    "using", "left",    "right",   "full",
                                    "inner", "outer", "cross", "natural", "indexed", "not"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](const char* word) { return is_word(t, word); });
}

class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : text_(text), tokens_(tokens_of(text)) {}

  std::string run() {
    for (const Token& token : tokens_) any_ |= is_word(token, "extract_arg");
    if (!any_) return {};
    for (std::size_t i = 0; i < tokens_.size(); ++i) look(i);
    if (!changed_) return {};
    out_.append(text_.substr(copied_));
    return out_;
  }

 private:
  void look(std::size_t& i) {
    const Token& t = tokens_[i];
    if (is_sign(t, '(')) scopes_.push_back(std::nullopt);
    if (is_sign(t, ')') && !scopes_.empty()) scopes_.pop_back();
    if (is_word(t, "select")) {
      if (scopes_.empty()) scopes_.push_back(std::nullopt);
      scopes_.back() = read_scope(i);
    }
    if (is_word(t, "as")) materialize(i);
    if (is_word(t, "extract_arg")) replace_call(i);
  }

  // What the FROM of the SELECT at `i` names.
  Scope read_scope(std::size_t i) const {
    Scope scope;
    int depth = 0;
    std::size_t tables = 0;
    bool in_from = false, expects_table = false;
    for (++i; i < tokens_.size(); ++i) {
      const Token& t = tokens_[i];
      if (is_sign(t, '(')) {
        if (depth == 0 && expects_table) ++tables;
        expects_table = depth++ == 0 ? false : expects_table;
      } else if (is_sign(t, ')')) {
        if (depth-- == 0) break;
      }
      if (depth != 0) continue;
      if (is_word(t, "from") || (in_from && (is_word(t, "join") || is_sign(t, ',')))) {
        in_from = expects_table = true;
      } else if (ends_from(t)) {
        if (in_from) break;
      } else if (expects_table && is_name(t)) {
        ++tables;
        expects_table = false;
        if (unquoted(t.text) == "slice" && !is_called(i)) scope.slices.push_back(alias_of(i));
      }
    }
    scope.only_slice = tables == 1 && scope.slices.size() == 1;
    return scope;
  }
  bool is_called(std::size_t i) const {
    return i + 1 < tokens_.size() && (is_sign(tokens_[i + 1], '(') || is_sign(tokens_[i + 1], '.'));
  }
  // The name that the table at `i` goes by.
  std::string alias_of(std::size_t i) const {
    std::size_t next = i + 1;
    if (next < tokens_.size() && is_word(tokens_[next], "as")) ++next;
    if (next < tokens_.size() && is_name(tokens_[next]) && !ends_from(tokens_[next]) && !is_join_word(tokens_[next]))
      return unquoted(tokens_[next].text);
    return "slice";
  }

  void put(std::size_t from, std::size_t to, std::string_view with) {
    out_.append(text_.substr(copied_, from - copied_)).append(with);
    copied_ = to;
    changed_ = true;
  }

  // WITH name AS (SELECT ... extract_arg ...): worked out once, so that a join finds its rows by an index of its own.
  void materialize(std::size_t i) {
    if (i == 0 || i + 1 >= tokens_.size() || !is_sign(tokens_[i + 1], '(')) return;
    int depth = 0;
    bool asks = false, selects = false;
    for (std::size_t k = i + 1; k < tokens_.size(); ++k) {
      if (is_sign(tokens_[k], '(')) ++depth;
      if (is_sign(tokens_[k], ')') && --depth == 0) break;
      asks |= is_word(tokens_[k], "extract_arg");
      selects |= is_word(tokens_[k], "select") || is_word(tokens_[k], "with");
    }
    if (asks && selects) put(tokens_[i].offset + 2, tokens_[i].offset + 2, " materialized");
  }

  // extract_arg ( [name .] arg_set_id , 'key' )
  void replace_call(std::size_t& i) {
    std::size_t at = i + 1;
    const auto take = [&](char sign) { return at < tokens_.size() && is_sign(tokens_[at], sign) && ++at > 0; };
    if (!take('(') || at + 1 >= tokens_.size() || !is_name(tokens_[at])) return;
    std::string_view table;
    if (is_sign(tokens_[at + 1], '.')) {
      table = tokens_[at].text;
      at += 2;
    }
    if (at >= tokens_.size() || !is_word(tokens_[at++], "arg_set_id") || !take(',') || at >= tokens_.size() ||
        tokens_[at].kind != Token::Kind::text)
      return;
    const std::string key = unquoted(tokens_[at++].text);
    if (at >= tokens_.size() || !is_sign(tokens_[at], ')')) return;
    const char* column = key == "args.correlation"   ? kCorrelationColumn
                         : key == "args.External id" ? kExternalIdColumn
                                                     : nullptr;
    if (column == nullptr || !is_of_slice(unquoted(table))) return;
    put(tokens_[i].offset, tokens_[at].offset + 1, table.empty() ? column : std::string(table) + '.' + column);
    i = at;  // the call's own brackets were not counted
  }
  bool is_of_slice(const std::string& table) const {
    const auto innermost = std::find_if(scopes_.rbegin(), scopes_.rend(), [](const auto& scope) { return scope.has_value(); });
    if (innermost == scopes_.rend()) return false;
    if (table.empty()) return (*innermost)->only_slice;
    return std::find((*innermost)->slices.begin(), (*innermost)->slices.end(), table) != (*innermost)->slices.end();
  }

  std::string_view text_;
  Tokens tokens_;
  std::vector<std::optional<Scope>> scopes_;  // an entry an open bracket
  std::string out_;
  std::size_t copied_ = 0;
  bool any_ = false, changed_ = false;
};

}  // namespace

std::string rewritten(std::string_view statement) { return Rewriter(statement).run(); }

}  // namespace gapscope::sql
