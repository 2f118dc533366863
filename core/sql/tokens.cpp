#include "core/sql/tokens.h"

#include <algorithm>

#include "core/base/text.h"

namespace gapscope::sql {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f'; }
bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::size_t after_line(std::string_view sql, std::size_t at) { return std::min(sql.size(), sql.find('\n', at)); }
std::size_t after_comment(std::string_view sql, std::size_t at) {
  const std::size_t end = sql.find("*/", at + 2);
  return end == std::string_view::npos ? sql.size() : end + 2;
}
// After the closing quote; a doubled one is part of the text.
std::size_t after_quoted(std::string_view sql, std::size_t at, char close) {
  for (std::size_t i = at + 1; i < sql.size(); ++i) {
    if (sql[i] != close) continue;
    if (close != ']' && i + 1 < sql.size() && sql[i + 1] == close) {
      ++i;
    } else {
      return i + 1;
    }
  }
  return sql.size();
}

Token token_at(std::string_view sql, std::size_t at) {
  const char c = sql[at];
  std::size_t end = at + 1;
  Token::Kind kind = Token::Kind::sign;
  if (c == '\'') {
    kind = Token::Kind::text;
    end = after_quoted(sql, at, '\'');
  } else if (c == '"' || c == '`' || c == '[') {
    kind = Token::Kind::quoted_name;
    end = after_quoted(sql, at, c == '[' ? ']' : c);
  } else if (is_digit(c) || (c == '.' && at + 1 < sql.size() && is_digit(sql[at + 1]))) {
    kind = Token::Kind::number;
    while (end < sql.size() && (is_name_char(sql[end]) || sql[end] == '.')) ++end;
  } else if (is_name_char(c)) {
    kind = Token::Kind::word;
    while (end < sql.size() && is_name_char(sql[end])) ++end;
  }
  return {kind, sql.substr(at, end - at), at};
}

// Where the next token begins.
std::size_t skip_space(std::string_view sql, std::size_t at) {
  while (at < sql.size()) {
    if (is_space(sql[at]))
      ++at;
    else if (sql.substr(at).starts_with("--"))
      at = after_line(sql, at);
    else if (sql.substr(at).starts_with("/*"))
      at = after_comment(sql, at);
    else
      break;
  }
  return at;
}

}  // namespace

std::vector<Token> tokens_of(std::string_view sql) {
  std::vector<Token> out;
  for (std::size_t at = skip_space(sql, 0); at < sql.size(); at = skip_space(sql, at)) {
    out.push_back(token_at(sql, at));
    at += out.back().text.size();
  }
  return out;
}

bool is_word(const Token& token, std::string_view word) {
  return token.kind == Token::Kind::word && std::equal(token.text.begin(), token.text.end(), word.begin(), word.end(),
                                                       [](char a, char b) { return lower(a) == lower(b); });
}

std::string unquoted(std::string_view text) {
  if (text.empty() || (text[0] != '\'' && text[0] != '"' && text[0] != '`' && text[0] != '[')) return std::string(text);
  const char close = text[0] == '[' ? ']' : text[0];
  std::string out;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == close && (close == ']' || i + 1 >= text.size() || text[i + 1] != close)) break;
    if (text[i] == close) ++i;
    out += text[i];
  }
  return out;
}

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::vector<StatementText> statements_of(std::string_view script) {
  std::vector<StatementText> out;
  std::size_t begin = std::string_view::npos, end = 0;
  const auto close = [&] {
    if (begin != std::string_view::npos) out.push_back({script.substr(begin, end - begin), begin});
    begin = std::string_view::npos;
  };
  for (const Token& token : tokens_of(script)) {
    if (is_sign(token, ';')) {
      close();
      continue;
    }
    if (begin == std::string_view::npos) begin = token.offset;
    end = token.offset + token.text.size();
  }
  close();
  return out;
}

bool is_unfinished(std::string_view script) {
  const std::vector<Token> tokens = tokens_of(script);
  return !tokens.empty() && !is_sign(tokens.back(), ';');
}

}  // namespace gapscope::sql
