#pragma once
// What `gapscope serve` answers, without a socket: an address and headers in, a status and text or a file out. Its pages are
// those that the program makes; of the folder only recordings are served, to be saved: a report that was left there would
// be a page of this site, whose script could read whatever the reader's cookie opens. The report of a recording is its page
// here.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/serve/access.h"
#include "app/serve/address.h"
#include "app/serve/analyses.h"
#include "app/serve/listing.h"
#include "app/serve/served_file.h"
#include "app/serve/summaries.h"

namespace gapscope {

struct WebRequest {
  std::string target;                // as it came
  std::string host, origin, cookie;  // headers; empty: not there
  std::string range, if_range, if_none_match;
  std::function<bool()> is_gone;  // whether the client has left
};

struct WebAnswer {
  int status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::shared_ptr<const ServedFile> file{};  // in place of the body: so much of it
  std::uint64_t offset = 0, bytes = 0;
};

// What is in every answer, also in those that are none of ours.
std::vector<std::pair<std::string, std::string>> common_headers();

struct ListedRow;

class Site {
 public:
  // `window`: the folder of the window in a browser (window_files.h); empty: there is none. `sources`: as Tools has it.
  Site(std::string program, AllowedFolders folders, Access access, std::filesystem::path window = {},
       std::vector<std::string> sources = {});

  WebAnswer answer(const WebRequest& request);
  // Clients that wait for an analysis are answered soon.
  void end() { analyses_.end(); }

 private:
  WebAnswer answer_to(Address address, Access::Answer access, const WebRequest& request);
  WebAnswer granted(const Address& address, const WebRequest& request);
  WebAnswer list();
  WebAnswer list_json();
  WebAnswer recording(const std::string& path, const WebRequest& request);
  WebAnswer table(const std::string& kind_and_path, const WebRequest& request);
  WebAnswer ranks(const std::string& path, const WebRequest& request);
  WebAnswer diff(const Address& address, const WebRequest& request);
  WebAnswer api(const std::string& tool, const Address& address, const WebRequest& request);
  WebAnswer file(const std::string& path, const WebRequest& request) const;
  WebAnswer window_file(const std::string& name, const WebRequest& request) const;
  Listing rows(std::vector<ListedRow>& out);

  AllowedFolders folders_;
  Access access_;
  std::filesystem::path window_;
  RankHeads heads_;
  Analyses analyses_;
  Summaries summaries_;  // last: its thread uses the rest
};

}  // namespace gapscope
