// The subcommands. Each function adds one to `app`; its callback sets `exit_code`, which outlives
// `app`. What the codes mean stands at the end of each subcommand's help.
#pragma once

namespace CLI {
class App;
}

namespace llmb::cli {

// Logs in, a table, csv or json out; no database.
void add_parse_command(CLI::App& app, int& exit_code);
// Logs into the database, without serving them.
void add_ingest_command(CLI::App& app, int& exit_code);
// Old trees into a central server, many tasks at once.
void add_backfill_command(CLI::App& app, int& exit_code);
// The daemon: watches trees, answers the API, shows the dashboard.
void add_serve_command(CLI::App& app, int& exit_code);

// Jobs through Slurm, what became of them, and who may ask the API for what.
void add_submit_command(CLI::App& app, int& exit_code);
void add_jobs_command(CLI::App& app, int& exit_code);
void add_token_command(CLI::App& app, int& exit_code);

// Runs side by side, by number of GPUs, and over time.
void add_compare_command(CLI::App& app, int& exit_code);
void add_scaling_command(CLI::App& app, int& exit_code);
void add_history_command(CLI::App& app, int& exit_code);
// What ended the runs of a database.
void add_failures_command(CLI::App& app, int& exit_code);
// What other tools would report for a log, and why.
void add_agreement_command(CLI::App& app, int& exit_code);
// Recomputes the published figures of the catalog.
void add_audit_command(CLI::App& app, int& exit_code);

// What is wrong with a database and the trees that it follows.
void add_doctor_command(CLI::App& app, int& exit_code);
// All of a database into another one, of whichever engine.
void add_copy_db_command(CLI::App& app, int& exit_code);
// Old runs out of a database.
void add_prune_command(CLI::App& app, int& exit_code);
// Writes the sample tree, and lets one run of it grow.
void add_sample_command(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
