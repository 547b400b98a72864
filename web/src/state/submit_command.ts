// The command line that launches a configuration. Pure.
export interface Launched {
  workload: string;
  model_size: string;
  dtype: string;
  gpu_type: string;
  gpu_count: number;
}

// `environment`: what its launch sets, by name.
export function submitCommandOf(
  { workload, model_size, dtype, gpu_type, gpu_count }: Launched,
  repeats: number,
  environment: readonly (readonly [string, string])[] = [],
): string {
  const set = environment.map(([name, value]) => ` --env ${quoted(`${name}=${value}`)}`).join("");
  return (
    `llmb-report submit -w ${quoted(workload)} -s ${quoted(model_size)} ` +
    `--dtype ${quoted(dtype)} --gpu-type ${quoted(gpu_type)} --scale ${gpu_count} ` +
    `-r ${repeats}${set}`
  );
}

// What a log or a configuration file says may hold anything.
function quoted(word: string): string {
  return /^[\w.=:/+,@%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
