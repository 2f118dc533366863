#include "core/base/address.h"

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("an address is recognized by its scheme, with the command that fetches it") {
  CHECK(fetch_command("https://a.org/t.json.gz?x=1&y='2'") == R"(curl -LO 'https://a.org/t.json.gz?x=1&y='\''2'\''')");
  CHECK(fetch_command("https://github.com/o/r/blob/main/t.json") == "curl -LO 'https://github.com/o/r/raw/main/t.json'");
  CHECK(fetch_command("S3://bucket/t.json") == "aws s3 cp 'S3://bucket/t.json' .");
  CHECK(fetch_command("gs://bucket/t.json") == "gcloud storage cp 'gs://bucket/t.json' .");
  CHECK(fetch_command("hf://datasets/o/r/a/t.json") == "hf download 'o/r' 'a/t.json' --repo-type dataset --local-dir .");
  CHECK(fetch_command("hf://o/r/t.json") == "hf download 'o/r' 't.json' --local-dir .");
  for (const char* file : {"", "t.json", "/a/b.json", "a:b", "://a", "file:///a.json", "C://a.json"})
    CHECK(fetch_command(file).empty());
  CHECK(address_error("s3://b/t.json") ==
        "s3://b/t.json is an address, and Gapscope opens files. Fetch it first: aws s3 cp 's3://b/t.json' .");
  CHECK(address_error("t.json").empty());
}

TEST_CASE("file:// is the file") {
  CHECK(without_file_scheme("file:///tmp/a%20b.json") == "/tmp/a b.json");
  CHECK(without_file_scheme("file://localhost/tmp/100%.json") == "/tmp/100%.json");
  CHECK(without_file_scheme("file:///a%00b%zz%2") == "/a%00b%zz%2");
  CHECK(without_file_scheme("file://other/a.json") == "file://other/a.json");
  CHECK(without_file_scheme("/a%20b") == "/a%20b");
}
