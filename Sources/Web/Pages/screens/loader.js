/** Between two tries, ms. */
const pause = 2000;
const mostTries = 3;
let loading = null;

/** What no first picture needs (later.js): fetched once that has come, or when something of it is opened. */
export const later = () => (loading ??= load());

async function load() {
  for (let tries = 1; ; tries += 1) {
    try {
      return await import(tries === 1 ? "./later.js" : `./later.js?again=${tries}`);
    } catch (error) {
      if (tries === mostTries) {
        loading = null;
        throw error;
      }
      await new Promise((done) => setTimeout(done, pause));
    }
  }
}
