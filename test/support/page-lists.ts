const PERIOD = 'from=2026-06-01T10:30Z&to=2026-06-01T20:30Z'

/** Addresses of the pages that are about no single thing, and of what changed in a period. */
export const lists: readonly string[] = [
  ...[
    '/',
    '/map',
    '/captures',
    '/records',
    '/territories',
    '/guilds',
    '/gained',
    '/worlds',
    '/search?q=a',
    '/status',
    '/runs',
  ],
  ...[
    '/items',
    '/patches',
    '/pools',
    '/leaderboards',
    '/events',
    '/quests',
    '/raids',
    '/camps',
    '/nodes',
    '/abilities',
  ],
  ...['/aspects', '/seasons', '/search?q=Oka'],
  ...['/items', '/abilities', '/pools', '/quests'].map((path) => `${path}?${PERIOD}`),
]
