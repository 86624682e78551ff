// Files beside the tests: objects as Kubernetes' own Go types write them, in JSON and in protobuf.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace berth::api {

// The content of src/api/testdata/NAME. CTest sets BERTH_SOURCE_DIR; a binary started by hand looks
// below the current directory. Throws if there is no such file: the test fails with the name.
inline std::string ReadTestData(const std::string& name) {
  const char* source = std::getenv("BERTH_SOURCE_DIR");
  const std::string dir = std::string(source ? source : ".") + "/src/api";
  std::FILE* in = std::fopen((dir + "/testdata/" + name).c_str(), "rb");
  if (!in) throw std::runtime_error("no test data " + name + " in " + dir + "/testdata");
  std::string content;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), in)) > 0;) content.append(buffer, n);
  std::fclose(in);
  return content;
}

}  // namespace berth::api
