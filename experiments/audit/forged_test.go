package audit

import "testing"

// TestForged: verify says of each of our forgeries what the table says, and refuses no genuine
// release. More than half of what it refuses was consistent when it did not make the plan again.
func TestForged(t *testing.T) {
	if len(forgeries) < 60 {
		t.Fatalf("%d forgeries", len(forgeries))
	}
	all, err := forged(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	news, caught := 0, 0
	for i, f := range forgeries {
		if all[i].got != f.want {
			t.Errorf("%s: %s: %s, want %s (%s)", f.of, f.what, all[i].got, f.want, all[i].why)
		}
		if all[i].got != unseen {
			caught++
			if all[i].before {
				news++
			}
		}
	}
	t.Logf("%d of %d are found, and %d of these were not before", caught, len(all), news)
	if 2*news < caught {
		t.Errorf("only %d of %d were consistent before", news, caught)
	}
}
