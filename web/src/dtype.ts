// A coarse dtype stands for its kinds: fp8 for fp8_cs.
export const isKindOf = (dtype: string, coarse: string) => dtype.startsWith(`${coarse}_`);
