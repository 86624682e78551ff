#include "cli/config_command.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/config_file.h"

namespace berth::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ConfigCommandTest : public testing::Test {
 protected:
  ConfigCommandTest() {
    char name[] = "/tmp/berth-config-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~ConfigCommandTest() override { std::filesystem::remove_all(folder_); }

  // A configuration of `version`; its path.
  std::string Write(const std::string& version, const std::string& rest) {
    const std::string path = folder_ + "/config.yaml";
    std::ofstream(path) << "apiVersion: kubescheduler.config.k8s.io/" << version
                        << "\nkind: KubeSchedulerConfiguration\n"
                        << rest;
    return path;
  }

  int Run(const std::vector<std::string>& args) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = Config(args);
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return code;
  }

  std::string folder_;
  std::string out_;
  std::string err_;
};

constexpr const char* kEbs = "profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}}]\n";

TEST_F(ConfigCommandTest, ValidateReadsV1beta3AndWarns) {
  const std::string path = Write("v1beta3", kEbs);
  EXPECT_EQ(Run({"validate", path}), 0);
  EXPECT_EQ(out_, path + ": valid, 1 profile, 0 extenders\n");
  EXPECT_THAT(err_, HasSubstr("berth config: " + path +
                              ": warning: kubescheduler.config.k8s.io/v1beta3 is deprecated"));
  EXPECT_THAT(err_, HasSubstr("plugin EBSLimits is gone since v1.32 and was left out"));
}

TEST_F(ConfigCommandTest, ValidateSaysNothingAboutV1) {
  EXPECT_EQ(Run({"validate", Write("v1", "")}), 0);
  EXPECT_THAT(err_, IsEmpty());
}

TEST_F(ConfigCommandTest, ValidateRefusesARemovedPluginInV1) {
  EXPECT_EQ(Run({"validate", Write("v1", kEbs)}), 1);
  EXPECT_THAT(err_, HasSubstr("Invalid value: \"EBSLimits\": was invalid in version \"v1\""));
}

TEST_F(ConfigCommandTest, DefaultPrintsV1beta3AsV1) {
  EXPECT_EQ(Run({"default", Write("v1beta3", kEbs)}), 0);
  EXPECT_THAT(out_, HasSubstr("apiVersion: kubescheduler.config.k8s.io/v1\n"));
  EXPECT_THAT(out_, Not(HasSubstr("EBSLimits")));
  EXPECT_THAT(err_, HasSubstr("is deprecated"));
}

TEST_F(ConfigCommandTest, ConvertTellsOnlyWhatItChanged) {
  EXPECT_EQ(Run({"convert", Write("v1beta3", kEbs)}), 0);
  EXPECT_THAT(out_, HasSubstr("apiVersion: kubescheduler.config.k8s.io/v1\n"));
  EXPECT_THAT(err_, HasSubstr("plugin EBSLimits is gone"));
  EXPECT_THAT(err_, Not(HasSubstr("is deprecated")));
}

TEST_F(ConfigCommandTest, ConvertedFilesAreValid) {
  ASSERT_EQ(Run({"convert", Write("v1beta3", kEbs)}), 0);
  const std::string path = folder_ + "/converted.yaml";
  std::ofstream(path) << out_;
  EXPECT_EQ(Run({"validate", path}), 0);
  EXPECT_THAT(err_, IsEmpty());
}

TEST_F(ConfigCommandTest, OtherCommandsReadV1beta3WithTheSameWarning) {
  const std::string path = Write("v1beta3", "parallelism: 5\n");
  testing::internal::CaptureStderr();
  const auto config = ReadConfig(path, {}, "berth simulate");
  err_ = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(config) << config.error().Message();
  EXPECT_EQ(config->parallelism, 5);
  EXPECT_THAT(err_, HasSubstr("berth simulate: " + path + ": warning: kubescheduler.config"));
}

TEST_F(ConfigCommandTest, OtherCommandsNameTheFileOfAMistake) {
  const std::string path = Write("v1beta3", "foo: 1\n");
  const auto config = ReadConfig(path, {}, "berth simulate");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().Message(), path + ": strict decoding error: unknown field \"foo\"");
}

}  // namespace
}  // namespace berth::cli
