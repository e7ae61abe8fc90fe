const ttls: readonly (readonly [RegExp, number])[] = [
  [/^\/player$/, 30],
  [/^\/player\/[^/]+\/characters\/[^/]+\/abilities$/, 600],
  [/^\/player\//, 120],
  [/^\/guild\/list\/guild$/, 3600],
  [/^\/guild\/list\/territory$/, 10],
  [/^\/guild\/seasons$/, 600],
  [/^\/guild\//, 120],
  [/^\/item\/metadata$/, 180],
  [/^\/item\/sets$/, 120],
  [/^\/(item|ability|aspects|classes|latest-news)(\/|$)/, 3600],
  [/^\/(leaderboards|search)\//, 600],
  [/^\/map\/locations\/player$/, 15],
  [/^\/map\/(world-events|loot-pools)$/, 120],
  [/^\/map\/(camps|raids)$/, 60],
  [/^\/map\//, 3600],
]

/** Time to live of a route's copies in seconds, by path below the base path (API reference 2.3). */
export function ttlOf(path: string): number {
  return ttls.find(([route]) => route.test(path))?.[1] ?? 120
}
