// `llmb-report submit`, `jobs` and `token`, against scripts that answer as Slurm's commands do.
#include <fstream>
#include <sstream>

#include "tests/server/cli/job_commands_fixture.h"
#include "tests/server/cli/training_logs.h"

namespace llmb::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class JobCommands : public JobCommandsTest {};

TEST_F(JobCommands, ACopyOfTheRunnerLiesBesideTheRunsAndIsMadeOnce) {
  const ProgramRun dry = submit({"--scale", "16", "--copy-runner", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr((folder_.path() / "runs/programs/runner-").string()));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "runs"));
  EXPECT_EQ(submit({"--scale", "16", "--copy-runner"}).exit_code, 0);
  const auto copies = [&] {
    std::vector<std::filesystem::path> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder_.path() / "runs" / "programs")) {
      files.push_back(entry.path());
    }
    return files;
  };
  ASSERT_EQ(copies().size(), 1U);
  const std::filesystem::path copy = copies()[0];
  EXPECT_THAT(dry.out, HasSubstr(copy.string()));
  EXPECT_EQ(std::filesystem::status(copy).permissions(), std::filesystem::perms(0755));
  const auto text_of = [](const std::filesystem::path& file) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  };
  EXPECT_EQ(text_of(copy), text_of(folder_.path() / "bin" / "runner"));

  const auto written = std::filesystem::last_write_time(copy);
  EXPECT_EQ(submit({"--scale", "16", "--copy-runner"}).exit_code, 0);
  EXPECT_EQ(std::filesystem::last_write_time(copy), written) << "the same bytes are copied once";
  command("runner", "echo 'llmb-step-runner 0.2.0'; echo 'backends: cpu'");
  EXPECT_EQ(submit({"--scale", "16", "--copy-runner"}).exit_code, 0);
  EXPECT_EQ(copies().size(), 2U) << "jobs of the older one keep it";

  command("runner", "echo 'llmb-step-runner 0.1.0'; echo 'backends: cpu'");
  std::ofstream(copy, std::ios::app) << "changed\n";
  const ProgramRun refused = submit({"--scale", "16", "--copy-runner"});
  EXPECT_EQ(refused.exit_code, 1) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("somebody changed it"));
}

TEST_F(JobCommands, BadArgumentsEndWithTwoAndWhatIsAllowed) {
  struct Case {
    std::vector<std::string> more;
    const char* says;
  };
  for (const Case& bad : std::vector<Case>{
           {{}, "(--scale, JOB_TOTAL_GPUS)"},
           {{"--scale", "17"}, "does not fill nodes"},
           {{"--scale", "16,x"}, "--scale"},
           {{"--scale", "16", "-r", "0"}, "--repeats"},
           {{"--scale", "16", "-r", "999"}, "more than 256"},
           {{"--scale", "16", "--slurm-arg", "wrap=id"}, "'wrap' is no Slurm option"},
           {{"--scale", "16", "--slurm-arg", "output=/x"}, "documented layout"},
           {{"--scale", "16", "--nodelist", "a", "--exclude", "a"}, "both in nodelist"},
           {{"--scale", "16", "--env", "LD_PRELOAD=x"}, "'LD_PRELOAD' may not be set"},
           {{"--scale", "16", "--env", "x"}, "NAME=VALUE"},
           {{"--scale", "16", "--set", "steps=many"}, "whole number"},
           {{"--scale", "16", "--slurm-arg", "constraint=x;wrap=id"}, "holds a semicolon"},
           {{"--scale", "16", "--nodelist", "/etc/shadow"}, "takes names of nodes"},
           {{"--scale", "16", "--slurm-arg", "constraint=x,reservation=y"}, "another parameter"},
           {{"--scale", "16", "-p", "--profile-start-step", "30"}, "of a run of 25 steps"},
           {{"--scale", "16", "-p", "--until", "1"}, "a run of 25 steps (the document's default)"},
           {{"--scale", "16", "--set", "steps=44", "--until", "1"}, "11-44, needs 45 or more"},
           {{"--scale", "16", "--backend", "cuda"}, "has no backend 'cuda', but: cpu"},
           {{"--scale", "16", "--cluster", "\x1b[31mred"}, "\\x1b"},
           {{"--scale", "16", "-p", "--nccl-trace"}, "exclude each other"},
           {{"--scale", "16", "--file", "jobs.json"}, "has to stand in it"},
           {{"--scale", "16", "--launcher", "recipe"}, "names no launch.sh"},
           {{"--scale", "16", "--cluster", "other"}, "is not the cluster of"}}) {
    const ProgramRun refused = submit(bad.more);
    EXPECT_EQ(refused.exit_code, 2) << bad.says << "\n" << refused.out;
    EXPECT_THAT(refused.err, HasSubstr(bad.says));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "runs"));
}

TEST_F(JobCommands, SubmitShowsAndCancels) {
  const ProgramRun submitted = submit({"--scale", "16", "-r", "2"});
  EXPECT_EQ(submitted.exit_code, 0) << submitted.err;
  EXPECT_THAT(submitted.out, HasSubstr(" 2     41  pending"));
  const ProgramRun listed = run({"jobs"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("pretrain_nemotron4_15b_bf16_16_proxy"));
  const ProgramRun shown = run({"jobs", "show", "2"});
  EXPECT_THAT(shown.out, HasSubstr("run folder       " + folder_.path().string() + "/runs/"));
  const ProgramRun cancelled = run({"jobs", "cancel", "1", "2"});
  EXPECT_EQ(cancelled.exit_code, 0) << cancelled.err;
  EXPECT_THAT(cancelled.out, HasSubstr("job 1 is to be cancelled\njob 2 is to be cancelled\n"));
  EXPECT_EQ(run({"jobs", "cancel", "1"}).exit_code, 0);
  EXPECT_EQ(run({"jobs", "cancel", "9"}).exit_code, 1);
  EXPECT_EQ(run({"jobs", "show", "9"}).exit_code, 1);
  EXPECT_EQ(run({"jobs", "show", "x"}).exit_code, 2);
  EXPECT_EQ(run({"jobs", "log"}).exit_code, 2);
}

TEST_F(JobCommands, WhatOnlyReadsMakesNoDatabase) {
  const std::vector<std::vector<std::string>> commands = {
      {"jobs"},          {"jobs", "show", "1"},    {"jobs", "log", "1"}, {"jobs", "cancel", "1"},
      {"token", "list"}, {"token", "revoke", "ci"}};
  for (const auto& command : commands) {
    SCOPED_TRACE(command.front() + " " + command.back());
    const ProgramRun refused = run(command);
    EXPECT_EQ(refused.exit_code, 1) << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("cannot read the database jobs.db: No such file"));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "jobs.db"));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "jobs.db.lock"));
  }
  folder_.write("jobs.db", "");
  EXPECT_EQ(run({"jobs"}).exit_code, 1) << "nor is one made of an empty file";
  EXPECT_EQ(std::filesystem::file_size(folder_.path() / "jobs.db"), 0U);
}

TEST_F(JobCommands, WhoMayOnlyReadSeesJobsAndTokensAsLastKnown) {
  ASSERT_EQ(run({"token", "create", "ci", "--scope", "read"}).exit_code, 0);
  const auto as_another = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--config", "llmb.yaml"});
    return run_program(arguments, {folder_.path(), environment_, true});
  };
  namespace fs = std::filesystem;
  fs::remove(folder_.path() / "jobs.db.lock");
  fs::permissions(folder_.path() / "jobs.db", fs::perms(0444));
  fs::permissions(folder_.path(), fs::perms(01777));
  const ProgramRun none = as_another({"jobs"});
  EXPECT_EQ(none.exit_code, 0) << none.err;
  EXPECT_EQ(none.err, "") << "nothing is to be asked from Slurm";
  EXPECT_THAT(as_another({"token", "list"}).out, HasSubstr("ci    read    valid"));
  EXPECT_FALSE(fs::exists(folder_.path() / "jobs.db.lock")) << "it would keep its owner out";

  fs::permissions(folder_.path() / "jobs.db", fs::perms(0644));
  ASSERT_EQ(submit({"--scale", "16"}).exit_code, 0);
  fs::permissions(folder_.path() / "jobs.db", fs::perms(0444));
  fs::permissions(folder_.path(), fs::perms(0555));
  const ProgramRun listed = as_another({"jobs"});
  fs::permissions(folder_.path(), fs::perms(0755));
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("pretrain_nemotron4_15b_bf16_16_proxy"));
  EXPECT_THAT(listed.err, HasSubstr("as last known: cannot write jobs.db: Permission denied"));
}

TEST_F(JobCommands, RefusalsOfSlurmAreSaidOnce) {
  command("sbatch", "echo 'sbatch: error: invalid partition specified: x' >&2; exit 1");
  const ProgramRun refused = submit({"--scale", "16"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.out, HasSubstr("job 1: Slurm said: invalid partition specified: x"));
  EXPECT_THAT(refused.out, HasSubstr("not_submitted"));
  EXPECT_EQ(refused.err, "");
}

TEST_F(JobCommands, JobsComeFromAFile) {
  folder_.write(
      "jobs.json",
      R"([{"workload":"pretrain_nemotron4","model_size":"15b","dtype":"bf16",)"
      R"("gpu_type":"h100","proxy":true,"scale":[16,32],"repeats":2},{"workload":)"
      R"("pretrain_grok1","model_size":"314b","dtype":"fp8","gpu_type":"gb200","proxy":true,)"
      R"("scale":128}])");
  const ProgramRun submitted = run({"submit", "--file", "jobs.json"});
  EXPECT_EQ(submitted.exit_code, 0) << submitted.err;
  EXPECT_THAT(submitted.out, HasSubstr(" 5     41  pending   128"));
  folder_.write("jobs.json", R"([{"scale":16,"wrap":"id"}])");
  const ProgramRun bad = run({"submit", "--file", "jobs.json"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("jobs.json, entry 1: unknown key 'wrap'"));
  EXPECT_EQ(run({"submit", "--file", "nowhere.json"}).exit_code, 2);
}

// The stand-in runs what it is given, as a cluster of one would.
TEST_F(JobCommands, WaitEndsWithTheResultOfTheLog) {
  command("srun",
          "for word; do case $word in --output=*) log=${word#--output=};; esac; done\n"
          "for i in $(seq 0 49); do echo \"Training epoch 0, iteration $i/49 | lr: 1e-05 | "
          "global_batch_size: 64 | global_step: $i | reduced_train_loss: 9.5 | train_step_timing "
          "in s: 2.5 | consumed_samples: 64\"; done >$log");
  command("sbatch",
          "for last; do case $last in --output=*) out=${last#--output=};; esac; done\n"
          "SLURM_JOB_ID=41 SLURM_JOB_USER=me sh -c \"bash $last\" >${out%_%j.out}_41.out 2>&1\n"
          "echo 41");
  const ProgramRun waited = submit({"--scale", "16", "--wait"});
  // The script sets PATH anew, so that it finds no srun where none is installed.
  EXPECT_THAT(waited.out, HasSubstr("pretrain_nemotron4_15b_bf16_16_proxy"));
  EXPECT_THAT(waited.err, HasSubstr("job 1 (Slurm 41) "));
  EXPECT_EQ(waited.exit_code, 0) << waited.out << waited.err;
  // The document of this model makes its results of the last step.
  EXPECT_THAT(waited.out, HasSubstr("complete   49-49      1         2.5000"));
  const ProgramRun log = run({"jobs", "log", "1", "--follow"});
  EXPECT_THAT(log.out, HasSubstr("iteration 49/49"));
  EXPECT_THAT(log.err, HasSubstr("job 1 completed"));
  EXPECT_THAT(run({"jobs", "log", "1", "--batch"}).out, HasSubstr("job exited with code 0"));
}

TEST_F(JobCommands, WaitFailsWhereAJobThatCompletedLacksSteps) {
  folder_.write("cut", nemo_log(20));
  const std::string cut = (folder_.path() / "cut").string();
  command("srun",
          "for word; do case $word in --output=*) log=${word#--output=};; esac; done\n"
          "cp " +
              cut + " $log");
  command("sbatch",
          "for last; do case $last in --output=*) out=${last#--output=};; esac; done\n"
          "SLURM_JOB_ID=41 SLURM_JOB_USER=me sh -c \"bash $last\" >${out%_%j.out}_41.out 2>&1\n"
          "echo 41");
  const ProgramRun waited = submit({"--scale", "16", "--wait"});
  EXPECT_THAT(waited.out, HasSubstr("completed"));
  EXPECT_THAT(waited.err, HasSubstr("job 1 completed, but its log ends at step 20 of 49"));
  EXPECT_EQ(waited.exit_code, 1) << waited.out << waited.err;
}

// A cluster without pyxis, as Slurm 22.05 says it: srun never opens the log.
TEST_F(JobCommands, WaitEndsWithWhatTheBatchScriptPrintedWhereThereIsNoLog) {
  command(
      "sbatch",
      "for word; do case $word in --output=*) out=${word#--output=};; esac; done\n"
      "{ echo 'job started, restart 0'; echo \"srun: unrecognized option '--container-image=x'\"; "
      "echo 'job exited with code 255'; } >${out%_%j.out}_41.out\n"
      "echo 41");
  const ProgramRun waited = submit({"--scale", "16", "--wait", "--container-image", "x"});
  EXPECT_EQ(waited.exit_code, 1) << waited.err;
  EXPECT_THAT(waited.out, HasSubstr("srun_launch_error, 'srun: unrecognized option"));
}

// The first job's log ends early: sbatch itself runs the job, and writes what srun would.
TEST_F(JobCommands, UntilEachConfigurationHasItsResultsMoreIsSubmitted) {
  folder_.write("whole", nemo_log(49));
  folder_.write("cut", nemo_log(20));
  const std::string here = folder_.path().string();
  command("sbatch",
          "n=40; [ ! -e " + here + "/last ] || read -r n <" + here +
              "/last; n=$((n + 1))\n"
              "echo $n >" +
              here +
              "/last\n"
              "for word; do case $word in --chdir=*) run=${word#--chdir=};; --job-name=*) "
              "name=${word#--job-name=};; esac; done\n"
              "log=whole; [ $n != 41 ] || log=cut\n"
              "cp " +
              here +
              "/$log \"$run/log-${name}_${n}_0.out\"\n"
              "echo 'job exited with code 0' >\"$run/sbatch_${name}_$n.out\"\necho $n");
  const std::vector<std::string> wanted = {"--scale", "16,32", "--until", "1", "--at-once", "2"};
  const ProgramRun first = submit(wanted);
  EXPECT_EQ(first.exit_code, 0) << first.out << first.err;
  EXPECT_THAT(first.out, HasSubstr("32      1       1"));
  EXPECT_THAT(first.err, HasSubstr("a valid result"));
  EXPECT_THAT(first.err, HasSubstr("job 1 (Slurm 41) completed: the run ended at iteration 20"));
  // What is there counts: nothing more is submitted.
  const std::string jobs = run({"jobs"}).out;
  EXPECT_EQ(submit(wanted).exit_code, 0);
  EXPECT_EQ(run({"jobs"}).out, jobs);
  // Where nothing helps, the attempts end.
  command("sbatch", "echo 'sbatch: error: invalid partition specified' >&2; exit 1");
  const ProgramRun never = submit({"--scale", "64", "--until", "2", "--attempts", "2"});
  EXPECT_EQ(never.exit_code, 1) << never.out << never.err;
  EXPECT_THAT(never.out, HasSubstr("64      0       2          2  Slurm said: invalid partition"));
}

// Waiting would never end. Its configuration is named by what is planned.
TEST_F(JobCommands, UntilEndsAtOnceWhereSlurmIsNot) {
  const std::string here = folder_.path().string();
  std::filesystem::remove(folder_.path() / "bin" / "squeue");
  folder_.write(
      "llmb.yaml",
      "db: jobs.db\ncluster:\n  name: test\n  workload_folder: runs\n  backend: cpu\n  runner: " +
          here + "/bin/runner\n  command_path: " + here + "/bin\n");
  const ProgramRun run = submit({"--scale", "16", "--until", "1"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("nothing was submitted: Slurm is not here, for there is no squeue "
                                 "in " +
                                 here + "/bin."));
}

TEST_F(JobCommands, UntilNamesConfigurationsByWhatIsPlanned) {
  command("sbatch", "echo 'sbatch: error: invalid partition specified' >&2; exit 1");
  environment_ = {{"JOB_TOTAL_GPUS", "64"}};
  const ProgramRun run = submit({"--until", "1", "--attempts", "1"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("pretrain_nemotron4 15b bf16, 64 GPUs: "));
  EXPECT_THAT(run.out, HasSubstr("64      0       1          1  Slurm said: invalid partition"));
}

// The cluster takes one job at a time: the second call is refused, and then the first job ends.
TEST_F(JobCommands, UntilWaitsForAnEndWhereALimitIsReached) {
  folder_.write("whole", nemo_log(49));
  command("sbatch", "cd " + folder_.path().string() + R"sh(
n=$(($(cat last 2>/dev/null || echo 40) + 1))
echo $n >last
if [ $n = 42 ]; then
  echo 'job exited with code 0' >"$(cat first)"
  echo 'sbatch: error: Job violates accounting/QOS policy (job submit limit)' >&2
  exit 1
fi
for word; do
  case $word in --chdir=*) run=${word#--chdir=};; --job-name=*) name=${word#--job-name=};; esac
done
cp whole "$run/log-${name}_${n}_0.out"
if [ $n = 41 ]; then
  echo "$run/sbatch_${name}_$n.out" >first
else
  echo 'job exited with code 0' >"$run/sbatch_${name}_$n.out"
fi
echo $n)sh");
  const ProgramRun limited =
      submit({"--scale", "16,32", "--until", "1", "--at-once", "2", "--attempts", "1"});
  EXPECT_EQ(limited.exit_code, 0) << limited.out << limited.err;
  EXPECT_THAT(limited.out, HasSubstr("16      1       1          1"));
  EXPECT_THAT(limited.out, HasSubstr("32      1       1          1"));
  EXPECT_THAT(limited.err, HasSubstr("accounting/QOS policy"));
  std::string last;
  std::ifstream(folder_.path() / "last") >> last;
  EXPECT_EQ(last, "43");  // of three calls, one was refused
}

// The second job goes on for as long as the first one needs to come back.
TEST_F(JobCommands, UntilCountsAJobThatCompletedAfterItWasRequeued) {
  folder_.write("whole", nemo_log(49));
  const std::string here = "cd " + folder_.path().string();
  command("sbatch", here + R"sh(
n=$(($(cat last 2>/dev/null || echo 40) + 1))
echo $n >last
for word; do
  case $word in
    --chdir=*) run=${word#--chdir=};;
    --job-name=*) name=${word#--job-name=};;
    --comment=*) echo "${word#--comment=}" >comment_$n;;
  esac
done
cp whole "$run/log-${name}_${n}_0.out"
echo $n)sh");
  command("squeue", here + R"sh(
turn=$(($(cat turn 2>/dev/null || echo 0) + 1))
echo $turn >turn
case $turn in
  1) first=NODE_FAIL second=RUNNING;;
  2) first=RUNNING second=RUNNING;;
  *) first=COMPLETED second=COMPLETED;;
esac
entry() {
  printf '{"job_id":%s,"submit_time":1000,"job_state":"%s","end_time":%s,"comment":"%s"}' \
    $1 $2 $(date +%s) $(cat comment_$1)
}
echo "{\"errors\":[],\"jobs\":[$(entry 41 $first),$(entry 42 $second)]}")sh");
  const ProgramRun requeued =
      submit({"--scale", "16,32", "--until", "1", "--at-once", "2", "--attempts", "1"});
  EXPECT_EQ(requeued.exit_code, 0) << requeued.out << requeued.err;
  EXPECT_THAT(requeued.err, HasSubstr("job 1 (Slurm 41) node_failed"));
  EXPECT_THAT(requeued.err, HasSubstr("job 1 (Slurm 41) completed: a valid result"));
}

TEST_F(JobCommands, TokensAreShownOnceAndRevoked) {
  const ProgramRun made = run({"token", "create", "ci", "--scope", "submit,read"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.out.rfind("llmb_", 0), 0U);
  const ProgramRun listed = run({"token", "list"});
  EXPECT_THAT(listed.out, HasSubstr("ci    submit read  valid"));
  EXPECT_THAT(listed.out, Not(HasSubstr(made.out.substr(0, 20))));
  std::ostringstream database;
  database << std::ifstream(folder_.path() / "jobs.db", std::ios::binary).rdbuf();
  EXPECT_THAT(database.str(), Not(HasSubstr(made.out.substr(5, 20))));
  EXPECT_EQ(run({"token", "create", "ci", "--scope", "submit"}).exit_code, 2);
  if (std::filesystem::exists("/dev/full")) {
    const ProgramRun unread = run_program({"token", "create", "cron", "--scope", "read", "--config",
                                           "llmb.yaml", "--allow-network-file-system"},
                                          {folder_.path(), environment_, false, "/dev/full"});
    EXPECT_EQ(unread.exit_code, 1);
    EXPECT_THAT(unread.err, HasSubstr("none was made"));
    EXPECT_EQ(run({"token", "create", "cron", "--scope", "read"}).exit_code, 0);
  }
  EXPECT_EQ(run({"token", "create", "x", "--scope", "root"}).exit_code, 2);
  EXPECT_EQ(run({"token", "create", "a b", "--scope", "read"}).exit_code, 2);
  EXPECT_EQ(run({"token", "create", "x", "--scope", "read", "--formerly", "eos"}).exit_code, 2);
  EXPECT_EQ(run({"token", "revoke", "ci"}).exit_code, 0);
  EXPECT_THAT(run({"token", "list"}).out, HasSubstr("revoked"));
  EXPECT_EQ(run({"token", "revoke", "ci"}).exit_code, 0);
  EXPECT_EQ(run({"token", "revoke", "nobody"}).exit_code, 1);
}

TEST_F(JobCommands, TokensOfTheScopeIngestAreForOneCluster) {
  EXPECT_THAT(run({"token", "create", "x", "--scope", "ingest"}).err, HasSubstr("--for-cluster"));
  const std::vector<std::vector<std::string>> refused = {
      {"--scope", "read", "--for-cluster", "eos"},
      {"--scope", "ingest", "--for-cluster", "e os"},
      {"--scope", "ingest", "--for-cluster", "eos", "--formerly", "eos"},
      {"--scope", "ingest", "--for-cluster", "eos", "--formerly", "a/b"}};
  for (const auto& more : refused) {
    std::vector<std::string> arguments = {"token", "create", "x"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(run(arguments).exit_code, 2) << more.back();
  }
  const ProgramRun made = run({"token", "create", "agent", "--scope", "ingest", "--for-cluster",
                               "eos2", "--formerly", "eos"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(run({"token", "list"}).out, HasSubstr("ingest (eos2, formerly eos)"));
}

TEST_F(JobCommands, HelpTeaches) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"submit"}, {"jobs"}, {"token"}}) {
    std::vector<std::string> arguments = command;
    arguments.emplace_back("--help");
    const ProgramRun help = run_program(arguments, {folder_.path(), {}, false});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.out, HasSubstr("Examples:\n  llmb-report " + command.front()));
  }
}

}  // namespace
}  // namespace llmb::cli
