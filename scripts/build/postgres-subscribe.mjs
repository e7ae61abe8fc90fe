// What the program uses of postgres.js's subscription to a replication stream: nothing.
export default () => {
  const subscribe = () => Promise.reject(new Error('no replication stream is read'))
  return Object.assign(subscribe, { sql: undefined })
}
