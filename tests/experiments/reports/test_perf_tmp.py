import json, time, resource, pytest
from experiments.reports.importing import import_document
from experiments.reports.json_values import parse
pytestmark=pytest.mark.django_db
def test_big(played, alice, exported, with_totals):
    before=exported(played(max_turns=1))
    m,c=before["messages"],before["calls"]
    import uuid
    msgs,calls=[],[]
    for t in range(1,2001):
        for row in m: 
            u=str(uuid.uuid4()); call=next(x for x in c if x["id"]==row["call"])
            calls.append({**call,"id":u,"turn":t,"step":f"turn/{t}/{row['seat']}"})
            msgs.append({**row,"id":str(uuid.uuid4()),"turn":t,"call":u,"filter":None})
    before|={"messages":msgs,"calls":calls,"steps":[],"judgments":[]}
    data=json.dumps(before).encode(); print(len(data)>>20,"MiB")
    t=time.time(); d=parse(data); print("parse",time.time()-t)
    t=time.time(); run=import_document(d,by=alice); print("import",time.time()-t)
    from experiments.reports.formats import FORMATS
    for f in FORMATS.values():
        if f.name in ("html","pdf"): continue
        t=time.time(); n=sum(map(len,f.chunks(with_totals(run),"en",lambda x:None))); print(f.name,n,time.time()-t)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss>>10,"MiB")
