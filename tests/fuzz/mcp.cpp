// Any bytes as what a client says to `gapscope mcp`: lines come as a naive split has them, every request that JSON-RPC knows is
// answered once and under its id, every answer is JSON, and after all of it a ping is answered before anything else is read.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>
#include <nlohmann/json.hpp>

#include "app/mcp/line_reader.h"
#include "app/mcp/server.h"
#include "core/base/parse_json.h"

namespace {

using namespace gapscope;
using Json = nlohmann::ordered_json;

constexpr std::size_t kLongest = 4096;

// Without a trace in it, so that no call begins a process.
std::string empty_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "gapscope_fuzz_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  return name;
}

struct Client {
  std::mutex mutex;
  std::vector<Json> answers;
  McpServer server{Tools("/no/program", *AllowedFolders::make({empty_folder()})), [this](const std::string& line) {
                     const auto json = parse_json(line);
                     if (!json || line.find('\n') != std::string::npos) std::abort();
                     const std::lock_guard lock(mutex);
                     answers.push_back(*json);
                   }};

  bool is_answered(const Json& id) {
    const std::lock_guard lock(mutex);
    return std::any_of(answers.begin(), answers.end(),
                       [&](const Json& a) { return a.is_object() && a.value("id", Json()) == id; });
  }
};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string> read_lines(std::string_view text) {
  LineReader reader(
      [&](char* into, std::size_t size) {
        const std::size_t now = std::min({size, text.size(), std::size_t{97}});
        std::memcpy(into, text.data(), now);
        text.remove_prefix(now);
        return static_cast<std::ptrdiff_t>(now);
      },
      kLongest);
  std::vector<std::string> lines;
  std::string line;
  for (auto got = reader.next(line); got != LineReader::Got::end; got = reader.next(line)) {
    if (line.size() > (got == LineReader::Got::too_long ? 0 : kLongest)) std::abort();
    lines.push_back(got == LineReader::Got::too_long ? "too long" : line);
  }
  return lines;
}

void check_lines(std::string_view text) {
  std::vector<std::string> expected = lines_of(text);
  for (std::string& line : expected)
    if (line.size() > kLongest) line = "too long";
  if (read_lines(text) != expected) std::abort();
}

// Of a ping or a list with an id of its own, which nothing answers later.
bool is_plain_request(const Json& message) {
  if (!message.is_object() || message.value("jsonrpc", Json()) != "2.0") return false;
  const Json method = message.value("method", Json()), id = message.value("id", Json());
  return (method == "ping" || method == "tools/list") && (id.is_string() || id.is_number_integer());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_lines(text);
  Client client;
  for (const std::string& line : lines_of(text)) {
    client.server.take(line);
    const auto message = parse_json(line);
    if (message && is_plain_request(*message) && !client.is_answered((*message)["id"])) std::abort();
  }
  client.server.take(R"({"jsonrpc": "2.0", "id": "the last", "method": "ping"})");
  if (!client.is_answered("the last")) std::abort();
  return 0;
}
