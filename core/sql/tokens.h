#pragma once
// SQL as words: enough to find where statements end, and what kind each is.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapscope::sql {

struct Token {
  enum class Kind : std::uint8_t { word, quoted_name, text, number, sign };
  Kind kind{};
  std::string_view text;  // as it is, quotes and all
  std::size_t offset = 0;
};

// Space and comments are left out. A text or name that never ends goes to the end.
std::vector<Token> tokens_of(std::string_view sql);

bool is_word(const Token& token, std::string_view word);  // whatever the case
inline bool is_sign(const Token& token, char sign) {
  return token.kind == Token::Kind::sign && token.text.size() == 1 && token.text[0] == sign;
}
// What a name or text says, without its quotes.
std::string unquoted(std::string_view text);
// A name as SQL takes it whatever it holds.
std::string quoted_name(std::string_view name);

struct StatementText {
  std::string_view text;   // without the ';'
  std::size_t offset = 0;  // in the script
};
// The statements of a script, empty ones left out.
std::vector<StatementText> statements_of(std::string_view script);
// Whether a script ends within a statement, a text or a comment: a prompt then asks for more.
bool is_unfinished(std::string_view script);

}  // namespace gapscope::sql
