// What the program uses of pino's transports to other threads: nothing. Its log goes to a stream.
module.exports = () => {
  throw new Error('no log goes to another thread')
}
