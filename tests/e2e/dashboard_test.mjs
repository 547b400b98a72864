// The dashboard as a user meets it: the real daemon on a copy of the sample tree, real Chromium.
import "./site.mjs";
import "./board_page.mjs";
import "./runs_page.mjs";
import "./run_page.mjs";
import "./compare_page.mjs";
import "./scaling_page.mjs";
import "./history_page.mjs";
import "./other_pages.mjs";
import "./jobs_page.mjs";
import "./pushed_runs.mjs";
import "./many_runs.mjs";
import "./copies.mjs";
import "./plots.mjs";
import "./exports.mjs";
import "./newcomer.mjs";
import "./every_page.mjs";
import "./live_pages.mjs";
