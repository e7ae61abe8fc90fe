import { expect, test } from 'vitest'
import {
  bucketOf,
  concurrencyOf,
  emptyRoutes,
  fileRoute,
  guessFrom,
  isNews,
  isUnknown,
  unnamedBucket,
} from '../../src/api/rate-limit/rate-limiter.ts'

const route = '/guild/{name}'

test('a route has a provisional bucket of its own until its bucket is known', () => {
  expect([isUnknown(emptyRoutes, route), bucketOf(emptyRoutes, route)]).toEqual([true, 'route /guild/{name}'])
  const known = fileRoute(emptyRoutes, route, 'GUILD')
  expect([isUnknown(known, route), bucketOf(known, route), isNews(known, route, 'GUILD')]).toEqual([
    false,
    'GUILD',
    false,
  ])
  expect(isNews(known, route, 'PLAYER')).toBe(true)
})

test('a guess counts until a response confirms it', () => {
  const guessed = fileRoute(emptyRoutes, route, 'GUILD', true)
  expect([bucketOf(guessed, route), isNews(guessed, route, 'GUILD')]).toEqual(['GUILD', true])
  expect(isNews(fileRoute(guessed, route, 'GUILD'), route, 'GUILD')).toBe(false)
  // Of one route, not of others.
  const two = fileRoute(fileRoute(guessed, '/guild/list', 'GUILD', true), route, 'GUILD')
  expect([isNews(two, route, 'GUILD'), isNews(two, '/guild/list', 'GUILD')]).toEqual([false, true])
})

test('a bucket that the server has not named has one request in flight', () => {
  expect(['GUILD', 'route /guild/{name}', unnamedBucket(route)].map((name) => concurrencyOf(name, 4))).toEqual([
    4, 1, 1,
  ])
  const routes = ['/item/database', '/player/{name}', route, '/leaderboards/{type}', '/map/camps', '/classes', '/']
  expect(routes.map(unnamedBucket)).toEqual(
    ['item', 'player', 'guild', 'leaderboards', 'map', 'others', 'others'].map((name) => `unnamed ${name}`),
  )
})

test('a guess follows what responses named, where neighbours agree', () => {
  expect(guessFrom([])).toBeUndefined()
  expect(guessFrom(['unnamed map'])).toBe('unnamed map')
  expect(guessFrom(['unnamed map', 'MAP'])).toBe('MAP')
  expect(guessFrom(['MAP', 'OTHERS'])).toBeUndefined()
})
