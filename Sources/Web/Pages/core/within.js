/** What a browser, or the person it asks, did not answer in time. */
export class NoAnswer extends Error {
  name = "NoAnswer";
}

/**
 * What a promise of the browser gives, which may stay pending for ever: a question that nobody answers, a service of its maker that
 * cannot be reached.
 * @param {number} milliseconds
 * @param {Promise} promise
 * @param {(value: any) => void} undo gets what comes after the limit, when nobody waits for it any more
 * @returns {Promise} Throws NoAnswer after the limit.
 */
export function within(milliseconds, promise, undo = () => {}) {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new NoAnswer(`no answer within ${milliseconds / 1000} s`));
    }, milliseconds);
    Promise.resolve(promise).then((value) => (isLate ? undo(value) : resolve(value)), reject).finally(() => clearTimeout(timer));
  });
}
