/** `$COLUMNS`, and `$PAGER`, which is empty for none. Reads them anew: a terminal may be resized. */
export function terminalSettings({ COLUMNS = '', PAGER } = process.env) {
  return { columns: /^[1-9]\d{0,4}$/.test(COLUMNS) ? Number(COLUMNS) : undefined, pager: PAGER }
}

/** Whether a stream shows colours: as `NO_COLOR` and `FORCE_COLOR` say, else on a terminal that can. */
export function showsColors(isTTY: boolean, { NO_COLOR, FORCE_COLOR, TERM } = process.env): boolean {
  if (FORCE_COLOR) return FORCE_COLOR !== '0'
  return !NO_COLOR && isTTY && TERM !== 'dumb'
}

/** The environment of a pager. @param less what `less` does where `$LESS` does not say it */
export function pagerEnvironment(less: string): Record<string, string | undefined> {
  return { LESS: less, ...process.env }
}
