// Files beside the tests: objects as Kubernetes' own Go types write them, in JSON and in protobuf.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace berth::api {

// The content of testdata/NAME. Throws if there is none: the test fails with the name.
inline std::string ReadTestData(const std::string& name) {
  const char* source = std::getenv("BERTH_SOURCE_DIR");
  std::string file(__FILE__);
  const std::string dir =
      source ? std::string(source) + "/src/api" : file.substr(0, file.rfind('/'));
  std::FILE* in = std::fopen((dir + "/testdata/" + name).c_str(), "rb");
  if (!in) throw std::runtime_error("no test data " + name + " in " + dir);
  std::string content;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), in)) > 0;) content.append(buffer, n);
  std::fclose(in);
  return content;
}

}  // namespace berth::api
