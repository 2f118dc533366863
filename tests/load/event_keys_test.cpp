#include "core/load/event_keys.h"

#include <string>

#include <doctest/doctest.h>

using namespace gapscope;

namespace {

// As it is in a text: with and without eight characters behind it that can be read.
ArgKey arg_key(const std::string& key) {
  const std::string padded = key + "\": 12345678";
  const ArgKey far = kArgKeyTable.find(padded.data(), key.size(), padded.data() + padded.size(), ArgKey::not_kept);
  CHECK(far == kArgKeyTable.find(key.data(), key.size(), key.data() + key.size(), ArgKey::not_kept));
  return far;
}

EventKey event_key(const std::string& key) {
  return kEventKeyTable.find(key.data(), key.size(), key.data() + key.size(), EventKey::other);
}

}  // namespace

TEST_CASE("keys of events and args are known by their whole text") {
  CHECK(event_key("ph") == EventKey::ph);
  CHECK(event_key("s") == EventKey::scope);
  CHECK(event_key("args") == EventKey::args);
  CHECK(event_key("dur") == EventKey::dur);
  CHECK(event_key("") == EventKey::other);
  CHECK(arg_key("") == ArgKey::not_kept);
  CHECK(event_key("dura") == EventKey::other);
  CHECK(event_key("t") == EventKey::other);
  CHECK(event_key("tts") == EventKey::other);
  CHECK(arg_key("grid") == ArgKey::grid);
  CHECK(arg_key("bytes") == ArgKey::bytes);
  CHECK(arg_key("Bytes") == ArgKey::memory_bytes);
  CHECK(arg_key("graph id") == ArgKey::graph_id);
  CHECK(arg_key("graph node id") == ArgKey::graph_node_id);
  CHECK(arg_key("Input Dims") == ArgKey::input_dims);
  CHECK(arg_key("Input Dimz") == ArgKey::not_kept);
  CHECK(arg_key("External id") == ArgKey::external_id);
  CHECK(arg_key("external id") == ArgKey::external_id);
  CHECK(arg_key("est. achieved occupancy %") == ArgKey::occupancy_percent);
  CHECK(arg_key("est. achieved occupancy !") == ArgKey::not_kept);
  CHECK(arg_key("registers per threat") == ArgKey::not_kept);
  CHECK(arg_key("Python id") == ArgKey::not_kept);
}
