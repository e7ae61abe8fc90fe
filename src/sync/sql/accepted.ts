/** SQL condition: a row of `sync.run` or `sync.observation` is of an accepted response. */
export const accepted = `status in ('ok', 'unchanged', 'partial')`
