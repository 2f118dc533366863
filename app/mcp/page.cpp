#include "app/mcp/page.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

std::size_t bytes_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace).size(); }

// The list that makes an answer long; null where there is none.
Json* longest_list(Json& answer) {
  if (answer.is_array()) return &answer;
  Json* longest = nullptr;
  std::size_t most = 0;
  if (!answer.is_object()) return nullptr;
  for (auto& [key, value] : answer.items()) {
    if (!value.is_array() || value.empty()) continue;
    if (const std::size_t bytes = bytes_of(value); bytes > most) {
      most = bytes;
      longest = &value;
    }
  }
  return longest;
}

// Texts of more than `most` bytes are cut, between two characters, and say how long they are.
void shorten(Json& value, std::size_t most) {
  if (value.is_structured())
    for (Json& item : value) shorten(item, most);
  if (!value.is_string()) return;
  auto& text = value.get_ref<std::string&>();
  if (text.size() <= most) return;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text = fmt::format("{}... (cut: {} in total)", std::string_view(text).substr(0, end), format_bytes(text.size()));
}

}  // namespace

Page page_of(Json answer, std::size_t cursor, std::size_t most_rows, std::size_t most_bytes) {
  Page page;
  Json* list = longest_list(answer);
  if (list == nullptr) {
    page.answer = std::move(answer);
    return page;
  }
  page.rows = list->size();
  page.first = std::min(cursor, page.rows);
  Json of_page = Json::array();
  std::size_t bytes = 0, at = page.first;
  for (; at < page.rows && of_page.size() < most_rows; ++at) {
    bytes += bytes_of((*list)[at]) + 2;
    if (bytes > most_bytes && !of_page.empty()) break;
    if (bytes > most_bytes) shorten((*list)[at], most_bytes / 4);
    of_page.push_back(std::move((*list)[at]));
  }
  page.next_cursor = at < page.rows ? at : 0;
  *list = std::move(of_page);
  page.answer = std::move(answer);
  return page;
}

}  // namespace gapscope
