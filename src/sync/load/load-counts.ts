/** Nothing was seen and nothing written. */
export const noCounts = {
  records: 0,
  inserted: 0,
  changed: 0,
  closed: 0,
  unchanged: 0,
  events: 0,
  rejected: 0,
  quarantined: 0,
}

/** What an answer or a run came to, in numbers; columns of `sync.run`. */
export type Counts = Readonly<Record<keyof typeof noCounts, number>>
