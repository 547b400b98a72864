// A list of the API that comes in pages: its first ones, as many as a reader asked to see.
interface Page {
  next_cursor: string | null;
}

// `query` without a cursor. Fewer pages where the list ends before.
export async function askPages<List extends Page>(
  count: number,
  query: URLSearchParams,
  ask: (query: URLSearchParams) => Promise<List>,
): Promise<List[]> {
  const lists: List[] = [];
  const next = new URLSearchParams(query);
  while (lists.length < count) {
    const list = await ask(next);
    lists.push(list);
    if (list.next_cursor === null) break;
    next.set("cursor", list.next_cursor);
  }
  return lists;
}
