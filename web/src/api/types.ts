// The shapes that /api/v1 answers with: the schemas of openapi.json under their own names, and names
// for the parts that stand inside another schema. null means "not known".
import type {
  Comparison,
  Failures,
  History,
  RunAgreement,
  RunList,
  Scaling,
  Steps,
} from "../../generated/openapi";

export type {
  Audit,
  AuditFinding,
  CheckpointEvent,
  Comparison,
  ConfigurationValue,
  DryRun,
  DryRunList,
  Failure,
  Failures,
  GroupMetric,
  History,
  HistoryLeftOut,
  Job,
  JobChange,
  JobDetails,
  JobList,
  JobLog,
  JobState,
  LogEvent,
  LogLine,
  MeanEstimate,
  Metric,
  MetricComparison,
  NcclUse,
  ParkedFile,
  PushAgent,
  PublishedStanding,
  RankMeasure,
  Readiness,
  Recipe,
  Reference,
  Root,
  RootList,
  Run,
  RunAgreement,
  RunChange,
  RunCheckpoints,
  RunChoices,
  RunDetails,
  RunInsight,
  RunJob,
  RunList,
  RunLog,
  RunLogMatches,
  RunMark,
  RunMetrics,
  RunNccl,
  RunRanks,
  RunStatistics,
  RunStatus,
  Scaling,
  Segment,
  Status,
  Steps,
  SubmissionRequest,
  Submitted,
  WindowStatistics,
} from "../../generated/openapi";

export type Column = (number | null)[];

// The columns of Steps that a chart or a table can show.
export type StepMetric = Exclude<
  { [Key in keyof Steps]-?: Steps[Key] extends Column | undefined ? Key : never }[keyof Steps],
  undefined | "segment" | "iteration" | "byte_offset"
>;

export type ToolResult = RunAgreement["tools"][number];

export type ComparedRun = Comparison["runs"][number];
export type RunGroup = Comparison["groups"][number];
export type GroupComparison = Comparison["comparisons"][number];
export type ComparedMetric = keyof GroupComparison["metrics"];

export type ScalingSeries = Scaling["series"][number];
export type ScalingPoint = ScalingSeries["points"][number];
export type PublishedPoint = ScalingSeries["published"][number];

export type HistorySeries = History["series"][number];
export type HistoryChange = HistorySeries["changes"][number];
export type HistoryDrift = NonNullable<HistorySeries["drift"]>;
export type HistoryMeanChange = HistorySeries["mean_changes"][number];

export type FailurePeriod = Failures["periods"][number];
export type FailureNode = Failures["nodes"][number];

export type RunPage = RunList;
