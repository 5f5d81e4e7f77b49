// Runs the table of Tests/Fixtures/alarm-cases.json: steps in the order of their times, and the alarm evaluated every half
// second as the page does. A step with "from", "to" and "every" stands for many; "rate" is what its counters of captured
// pictures and sounds rise by each time. What was expected and did not come is returned as sentences.
function repeated({ from, to, every, rate = {}, ...step }) {
  if (from === undefined) return [step];
  return Array.from({ length: Math.floor((to - from) / every + 1e-9) + 1 }, (_, i) => {
    const data = structuredClone(step.data);
    for (const track of Object.keys(rate)) data[track].captured += rate[track] * i;
    return { ...step, data, at: from + i * every };
  });
}

export function runAlarmCases(cases, Alarm) {
  const problems = [];
  for (const { name, limits, steps, expect } of cases) {
    const alarm = new Alarm(limits);
    const all = steps.flatMap(repeated);
    const times = new Set([...all, ...expect].map(({ at }) => at));
    const end = Math.max(...times);
    for (let tick = 0; tick <= end; tick += 0.5) times.add(tick);
    for (const now of [...times].sort((one, other) => one - other)) {
      for (const step of all.filter(({ at }) => at === now)) {
        if (step.note) alarm.note(step.note, now, step.data);
        if (step.acknowledge) alarm.acknowledge(now);
        if (step.test) alarm.test(now);
      }
      const found = alarm.evaluate(now);
      for (const wanted of expect.filter(({ at }) => at === now).map((one) => one.alarm)) {
        const fits = wanted === null
          ? found === null
          : found !== null && Object.keys(wanted).every((key) => wanted[key] === found[key]);
        if (!fits) problems.push(`${name}: at ${now} s ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
      }
    }
  }
  return problems;
}
